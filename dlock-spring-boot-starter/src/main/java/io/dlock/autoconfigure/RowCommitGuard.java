package io.dlock.autoconfigure;

import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

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
 * must not lock rows, and has nothing to commit. A permit protects no data, and its
 * holders would commit one after the other.
 */
final class RowCommitGuard implements CommitGuard {

	private static final Log logger = LogFactory.getLog(RowCommitGuard.class);

	/** By registry: a lock is one of a single registry. */
	private final Map<LeaseLockRegistry, JdbcLockStore> stores;

	/**
	 * The transactions of the thread that have locked a row, by the owner of the lock.
	 */
	private final ThreadLocal<Map<String, WeakReference<TransactionExecution>>> locked = ThreadLocal
		.withInitial(HashMap::new);

	RowCommitGuard(Map<LeaseLockRegistry, JdbcLockStore> stores) {
		this.stores = stores;
	}

	@Override
	public void check(TransactionExecution transaction, LockHandle lock) {
		if (transaction.isReadOnly() || lock.isPermit()) {
			return;
		}
		this.stores.forEach((registry, store) -> registry.ownerOf(lock)
			.filter((owner) -> !isLockedOutside(owner))
			.ifPresent((owner) -> store.connectionOf(transaction).ifPresent((connection) -> {
				check(store, connection, lock, owner);
				this.locked.get().put(owner, new WeakReference<>(transaction));
			})));
	}

	/**
	 * Whether a transaction has locked the row in which this one began, during its
	 * commit. This one would wait for it, and it outlasts this one.
	 */
	private boolean isLockedOutside(String owner) {
		Map<String, WeakReference<TransactionExecution>> current = this.locked.get();
		current.values().removeIf((reference) -> {
			TransactionExecution by = reference.get();
			return by == null || by.isCompleted();
		});
		return current.containsKey(owner);
	}

	private static void check(JdbcLockStore store, Connection connection, LockHandle lock, String owner) {
		boolean held;
		try {
			held = store.hold(connection, lock.key(), owner);
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
