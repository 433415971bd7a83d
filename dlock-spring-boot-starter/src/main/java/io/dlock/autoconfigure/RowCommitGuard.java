package io.dlock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockStoreException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.StoreException;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.transaction.CommitGuard;

/**
 * Locks the row of each lock in the transaction that commits. A read-only transaction
 * must not lock rows, and has nothing to commit. A permit protects no data, and its
 * holders would commit one after the other.
 */
final class RowCommitGuard implements CommitGuard {

	private static final Log logger = LogFactory.getLog(RowCommitGuard.class);

	/** By registry: a lock is one of a single registry. */
	private final Map<LeaseLockRegistry, JdbcLockStore> stores;

	/**
	 * The owners whose rows a transaction of the thread has locked that still commits.
	 */
	private final ThreadLocal<Set<String>> locked = ThreadLocal.withInitial(HashSet::new);

	RowCommitGuard(Map<LeaseLockRegistry, JdbcLockStore> stores) {
		this.stores = stores;
	}

	@Override
	public void check(TransactionExecution transaction, LockHandle lock) {
		if (transaction.isReadOnly() || lock.isPermit()) {
			return;
		}
		this.stores.forEach((registry, store) -> registry.ownerOf(lock)
			.filter((owner) -> !this.locked.get().contains(owner))
			.ifPresent((owner) -> store.connectionOf(transaction).ifPresent((connection) -> {
				check(store, connection, lock, owner);
				noteUntilTheCommit(owner);
			})));
	}

	/**
	 * A transaction that begins during this commit would wait for the row, which stays
	 * locked for longer than that transaction lasts.
	 */
	private void noteUntilTheCommit(String owner) {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			Set<String> owners = this.locked.get();
			owners.add(owner);
			TransactionSynchronizationManager.registerSynchronization(new Committed(() -> owners.remove(owner)));
		}
	}

	private static void check(JdbcLockStore store, Connection connection, LockHandle lock, String owner) {
		boolean held;
		try {
			held = store.lockRow(connection, lock.key(), owner);
		}
		catch (StoreException ex) {
			throw new LockStoreException(lock.key(), "check, before a commit,", "The transaction is rolled back", ex);
		}
		if (!held) {
			throw new LockLostException(lock.key(), lock.token(), "its row says that it expired or was taken away"
					+ hint(connection) + ". The transaction is rolled back");
		}
	}

	/**
	 * The rows are not locked any more, before any other callback runs.
	 *
	 * @param action the action after the commit or the rollback
	 */
	private record Committed(Runnable action) implements TransactionSynchronization, PriorityOrdered {

		@Override
		public void afterCommit() {
			this.action.run();
		}

		@Override
		public void afterCompletion(int status) {
			this.action.run();
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	/**
	 * A transaction that sees the row as it was when it began cannot tell the two apart.
	 */
	private static String hint(Connection connection) {
		try {
			return (connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED)
					? ", or has changed since the transaction began, which is not READ COMMITTED" : "";
		}
		catch (SQLException ex) {
			logger.debug("Failed to read the isolation level", ex);
			return "";
		}
	}

}
