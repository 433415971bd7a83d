package io.dlock.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * The names and tags of the calls of locked methods. A bean of this type replaces
 * {@link DefaultLockCallObservationConvention}.
 *
 * @since 0.1
 */
public interface LockCallObservationConvention extends ObservationConvention<LockCallObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof LockCallObservationContext;
	}

}
