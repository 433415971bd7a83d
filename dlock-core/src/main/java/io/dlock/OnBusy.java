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
	 * Do not run the method, and return {@code null} or {@code Optional.empty()}. Not for
	 * methods that return a primitive, which is found at start-up.
	 */
	SKIP

}
