package io.dlock.transaction;

/**
 * The rule for a {@link io.dlock.DistributedLocked} method that is called inside a
 * transaction that already runs. A lock that is released when the method returns would be
 * free before that transaction commits: the next holder would read the old state, and one
 * of the two updates would be lost.
 * <p>
 * The rule does not apply to the transaction of the method itself ({@code @Transactional}
 * on the same method), which begins and ends inside the lock. Nor does it apply to the
 * transaction of the caller if the method leaves it, by {@code REQUIRES_NEW} or
 * {@code NOT_SUPPORTED}: the lock is released when the method returns. With more than one
 * {@code PlatformTransactionManager} bean, the method may leave the transaction of one
 * manager and still work in that of another: such a call counts as inside the
 * transaction. The same applies to a reactive transaction with more than one
 * {@code ReactiveTransactionManager} bean.
 * <p>
 * For a method that returns a stage, the transaction is that of the calling thread; for a
 * reactive one, that of the subscriber, in the Reactor context or else on its thread. A
 * method that {@code @Async} runs is not part of the transaction of its caller.
 *
 * @since 0.1
 */
public enum InsideTransaction {

	/**
	 * Keep and renew the lock until that transaction has committed or rolled back. A
	 * warning is logged, once for each method: the lock is held for longer than the
	 * method runs, and data that the transaction read before it got the lock may be out
	 * of date. The lock of an asynchronous method is also kept until its work is done;
	 * its result is available before.
	 */
	DEFER,

	/**
	 * Throw an {@code IllegalTransactionStateException} instead of calling the method.
	 * The lock is not taken. The stage or publisher of an asynchronous method ends with
	 * that exception.
	 */
	FAIL,

	/**
	 * Release the lock when the method returns, before the transaction ends: for methods
	 * whose work is not part of the transaction.
	 */
	IGNORE

}
