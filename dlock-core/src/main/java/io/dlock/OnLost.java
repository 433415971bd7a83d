package io.dlock;

/**
 * What a {@link DistributedLocked} method does when its lock is lost while it runs. A
 * transaction that has not committed yet is rolled back, unless the loss is to be
 * ignored.
 *
 * @since 0.1
 */
public enum OnLost {

	/**
	 * Let the method end, and throw {@link LockLostException} even if it returned. If it
	 * threw something itself, that is thrown with the loss as a suppressed exception. The
	 * same goes for the result of an asynchronous method.
	 */
	THROW,

	/**
	 * Interrupt the thread that runs the method as soon as the loss is known, and then do
	 * as {@link #THROW}. Of an asynchronous method, the returned stage or the
	 * subscription is cancelled, and its caller gets the {@link LockLostException} at
	 * once.
	 */
	INTERRUPT,

	/**
	 * Do nothing but log a warning: for methods whose work may be done twice.
	 */
	IGNORE

}
