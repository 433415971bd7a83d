package io.dlock.transaction;

import org.springframework.transaction.TransactionExecution;

import io.dlock.LockHandle;

/**
 * An additional check of a lock, beside that it is {@linkplain LockHandle#isValid()
 * valid}, before a transaction commits in which the lock is held.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface CommitGuard {

	/**
	 * Called by the thread that commits, as the last thing before the commit, for every
	 * lock that it holds, in the order of the storage keys: guards that lock rows do not
	 * wait for each other crosswise. An exception is thrown by the commit, which becomes
	 * a rollback.
	 * @param transaction the transaction
	 * @param lock a lock that was valid a moment ago
	 * @throws io.dlock.LockLostException if the lock is lost
	 */
	void check(TransactionExecution transaction, LockHandle lock);

}
