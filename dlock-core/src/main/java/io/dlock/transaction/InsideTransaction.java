package io.dlock.transaction;

/**
 * The rule for a {@link io.dlock.DistributedLocked} method that is called inside a
 * transaction that already runs. A lock that is released when the method returns would be
 * free before that transaction commits: the next holder reads the old state, and one of
 * the two updates is lost.
 * <p>
 * The transaction of the method itself ({@code @Transactional} on the same method) is not
 * meant: it begins and ends inside the lock. Nor is the transaction of the caller if the
 * method leaves it, by {@code REQUIRES_NEW} or {@code NOT_SUPPORTED}: its lock is
 * released when it returns. With more than one {@code PlatformTransactionManager} bean
 * this does not hold, because the method may leave the transaction of one manager and
 * still work in that of the other: such a call is one inside of the transaction. For a
 * reactive transaction this is so with more than one {@code ReactiveTransactionManager}.
 * <p>
 * For a method that returns a stage, the transaction is that of the calling thread; for a
 * reactive one, that of the subscriber, in the Reactor context or else of its thread. A
 * method that is run by {@code @Async} is not part of the transaction of its caller.
 *
 * @since 0.1
 */
public enum InsideTransaction {

	/**
	 * Keep the lock, renewed, until that transaction has ended, by a commit or a
	 * rollback. A warning is logged, once for each method: the lock is held longer than
	 * the method says, and what the transaction has read before it got the lock may be
	 * out of date. The lock of an asynchronous method is kept until its work is done as
	 * well; its result is there before.
	 */
	DEFER,

	/**
	 * Throw an {@code IllegalTransactionStateException} instead of calling the method.
	 * The lock is not taken. The stage or publisher of an asynchronous method ends with
	 * it.
	 */
	FAIL,

	/**
	 * Release the lock when the method returns, before the transaction ends: for methods
	 * whose work is not part of the transaction.
	 */
	IGNORE

}
