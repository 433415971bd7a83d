package io.dlock;

/**
 * The reaction of a {@link DistributedLocked} method to a busy lock.
 *
 * @since 0.1
 */
public enum OnBusy {

	/**
	 * Throw {@link LockBusyException}.
	 */
	THROW,

	/**
	 * Do not run the method, and return an empty {@code Optional}, {@code OptionalInt},
	 * {@code OptionalLong} or {@code OptionalDouble}, {@code null} for other types, a
	 * stage that completes with one of these, or an empty publisher.
	 * <p>
	 * Refused at start-up for methods whose callers do not expect that: those that return
	 * a primitive, an array, a collection, a map or a stream, a publisher that needs a
	 * value, or a type that JSpecify or Kotlin declares not to be {@code null}.
	 */
	SKIP

}
