package io.dlock.transaction;

import org.springframework.transaction.TransactionExecution;

import io.dlock.LockHandle;

/**
 * An additional check of a held lock before a transaction commits, besides the check that
 * the lock is {@linkplain LockHandle#isValid() valid}.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface CommitGuard {

	/**
	 * Called by the committing thread, as the last action before the commit, for every
	 * lock that it holds. The order is that of the storage keys, so that guards that lock
	 * rows do not deadlock with each other. An exception turns the commit into a
	 * rollback, and the commit throws it.
	 * @param transaction the transaction
	 * @param lock a lock that was valid a moment ago
	 * @throws io.dlock.LockLostException if the lock is lost
	 */
	void check(TransactionExecution transaction, LockHandle lock);

}
