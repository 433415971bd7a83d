package io.dlock.transaction;

import org.springframework.transaction.TransactionExecution;

import io.dlock.LockHandle;

/**
 * What must hold, beside that the lock is {@linkplain LockHandle#isValid() valid}, before
 * a transaction may commit in which a lock is held.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface CommitGuard {

	/**
	 * Called by the thread that commits, as the last thing before the commit, for every
	 * lock it holds. What is thrown is thrown by the commit, which becomes a rollback.
	 * @param transaction the transaction
	 * @param lock a lock that was valid a moment ago
	 * @throws io.dlock.LockLostException if the lock is lost
	 */
	void check(TransactionExecution transaction, LockHandle lock);

}
