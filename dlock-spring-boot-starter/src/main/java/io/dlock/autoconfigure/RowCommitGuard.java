package io.dlock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.transaction.TransactionExecution;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockStoreException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.StoreException;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.transaction.CommitGuard;

/**
 * Locks the row of each lock in the transaction that commits. A read-only transaction
 * must not lock rows, and has nothing to commit.
 */
final class RowCommitGuard implements CommitGuard {

	private static final Log logger = LogFactory.getLog(RowCommitGuard.class);

	private final LeaseLockRegistry registry;

	private final JdbcLockStore store;

	RowCommitGuard(LeaseLockRegistry registry, JdbcLockStore store) {
		this.registry = registry;
		this.store = store;
	}

	@Override
	public void check(TransactionExecution transaction, LockHandle lock) {
		if (!transaction.isReadOnly()) {
			this.store.connectionOf(transaction)
				.ifPresent((connection) -> this.registry.ownerOf(lock)
					.ifPresent((owner) -> check(connection, lock, owner)));
		}
	}

	private void check(Connection connection, LockHandle lock, String owner) {
		boolean held;
		try {
			held = this.store.hold(connection, lock.key(), owner);
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
