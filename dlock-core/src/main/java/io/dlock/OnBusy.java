package io.dlock;

/**
 * What a {@link DistributedLocked} method does when somebody else holds its lock.
 *
 * @since 0.1
 */
public enum OnBusy {

	/**
	 * Throw {@link LockBusyException}.
	 */
	THROW,

	/**
	 * Do not run the method, and return {@code null}, {@code Optional.empty()}, a stage
	 * that completes with one of these, or an empty publisher. Not for methods that
	 * return a primitive or a type without an empty value, which is found at start-up.
	 */
	SKIP

}
