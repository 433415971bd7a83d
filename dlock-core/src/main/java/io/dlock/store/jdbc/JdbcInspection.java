package io.dlock.store.jdbc;

import java.sql.Connection;
import java.util.List;
import java.util.Optional;

import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.store.jdbc.dialect.LockDialect;
import io.dlock.store.jdbc.dialect.StoredLockQueries;

/**
 * The operations for operators.
 */
final class JdbcInspection implements StoreInspection {

	private final LockConnections connections;

	JdbcInspection(LockConnections connections) {
		this.connections = connections;
	}

	@Override
	public StoredLocks list(int limit) {
		return this.connections.execute("list the locks",
				(dialect, connection) -> queries(dialect, connection).list(limit));
	}

	@Override
	public Optional<StoredLock> findStored(String storageKey) {
		return findAll(storageKey).stream().reduce((first, last) -> last);
	}

	@Override
	public List<StoredLock> findAll(String storageKey) {
		return this.connections.execute("find", (dialect, connection) -> queries(dialect, connection).find(storageKey));
	}

	@Override
	public boolean forceRelease(String storageKey, long token) {
		return this.connections.execute("release by force",
				(dialect, connection) -> queries(dialect, connection).forceRelease(storageKey, token));
	}

	private StoredLockQueries queries(LockDialect dialect, Connection connection) {
		return new StoredLockQueries(dialect, connection, this.connections.commandTimeout());
	}

	@Override
	public StoreFacts diagnose() {
		return this.connections.execute("diagnose", LockDialect::facts);
	}

}
