package io.dlock;

/**
 * The reaction of a {@link DistributedLocked} method to the loss of its lock. A
 * transaction that has not committed yet is rolled back, unless the loss is ignored.
 *
 * @since 0.1
 */
public enum OnLost {

	/**
	 * Let the method end, and throw {@link LockLostException} even if it returned. An
	 * exception of the method is thrown with the loss as a suppressed exception. The same
	 * applies to the result of an asynchronous method.
	 */
	THROW,

	/**
	 * Interrupt the thread that runs the method as soon as the loss is known, and then
	 * proceed as {@link #THROW} does. The stage or the subscription of an asynchronous
	 * method is cancelled, and its caller gets the {@link LockLostException} at once.
	 */
	INTERRUPT,

	/**
	 * Log a warning, for methods whose work may be done twice.
	 */
	IGNORE

}
