package io.dlock.observation;

import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * How calls of locked methods are observed.
 *
 * @param registry who is told. With {@link ObservationRegistry#NOOP} nothing is observed,
 * and nothing spent on it
 * @param convention how it is called and tagged, or {@code null} for
 * {@link DefaultLockCallConvention}
 * @param backend where the locks are, one of few: the tag {@code backend}
 * @since 0.1
 */
public record LockObservations(ObservationRegistry registry, @Nullable LockCallConvention convention, String backend) {

	/**
	 * Nothing is observed.
	 */
	public static final LockObservations NONE = new LockObservations(ObservationRegistry.NOOP, null, "none");

}
