package io.dlock.observation;

import java.util.function.UnaryOperator;

import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Settings for the observation of calls of locked methods.
 *
 * @param registry the registry of the observations. With {@link ObservationRegistry#NOOP}
 * there are none, at no cost
 * @param convention the names and tags, or {@code null} for
 * {@link DefaultLockCallObservationConvention}
 * @param backend the kind of lock store, one of few: the tag {@code backend}
 * @param keys the replacement of a key, which may be personal
 * @since 0.1
 */
public record LockObservationSettings(ObservationRegistry registry, @Nullable LockCallObservationConvention convention,
		String backend, UnaryOperator<String> keys) {

	/**
	 * Nothing is observed.
	 */
	public static final LockObservationSettings NONE = new LockObservationSettings(ObservationRegistry.NOOP, null,
			"none");

	/**
	 * Create observations that tell the keys themselves.
	 * @param registry the registry to report to
	 * @param convention how it is called and tagged, or {@code null}
	 * @param backend where the locks are
	 */
	public LockObservationSettings(ObservationRegistry registry, @Nullable LockCallObservationConvention convention,
			String backend) {
		this(registry, convention, backend, UnaryOperator.identity());
	}

}
