package io.dlock.observation;

import java.util.function.UnaryOperator;

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
 * @param keys the replacement of a key, which may be personal
 * @since 0.1
 */
public record LockObservations(ObservationRegistry registry, @Nullable LockCallConvention convention, String backend,
		UnaryOperator<String> keys) {

	/**
	 * Nothing is observed.
	 */
	public static final LockObservations NONE = new LockObservations(ObservationRegistry.NOOP, null, "none");

	/**
	 * Create observations that tell the keys themselves.
	 * @param registry the registry to report to
	 * @param convention how it is called and tagged, or {@code null}
	 * @param backend where the locks are
	 */
	public LockObservations(ObservationRegistry registry, @Nullable LockCallConvention convention, String backend) {
		this(registry, convention, backend, UnaryOperator.identity());
	}

}
