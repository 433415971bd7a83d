package io.dlock.store.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;

/**
 * Looks around in the lock table. Rows of free locks are not shown: they are there for
 * their tokens.
 */
final class JdbcInspection implements StoreInspection {

	private final LockConnections connections;

	JdbcInspection(LockConnections connections) {
		this.connections = connections;
	}

	@Override
	public StoredLocks list(int limit) {
		return this.connections.execute("list the locks", (dialect, connection) -> {
			List<StoredLock> found = new ArrayList<>();
			String list = dialect.sql(LockStatement.LIST) + dialect.first(limit + 1);
			try (PreparedStatement statement = connection.prepareStatement(list);
					ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					found.add(lock(row));
				}
			}
			return StoredLocks.of(found, limit);
		});
	}

	@Override
	public Optional<StoredLock> findStored(String storageKey) {
		return this.connections.execute("find", (dialect, connection) -> {
			try (PreparedStatement statement = dialect.prepare(connection, LockStatement.FIND)) {
				statement.setString(1, storageKey);
				try (ResultSet row = statement.executeQuery()) {
					return row.next() ? Optional.of(lock(row)) : Optional.empty();
				}
			}
		});
	}

	@Override
	public boolean forceRelease(String storageKey, long token) {
		return this.connections.execute("release by force", (dialect, connection) -> {
			try (PreparedStatement statement = dialect.prepare(connection, LockStatement.FORCE_RELEASE)) {
				statement.setString(1, storageKey);
				statement.setLong(2, token);
				return dialect.release(statement);
			}
		});
	}

	@Override
	public StoreFacts diagnose() {
		return this.connections.execute("diagnose", JdbcLockDialect::facts);
	}

	private static StoredLock lock(ResultSet row) throws SQLException {
		return new StoredLock(row.getString("lock_key"), row.getString("holder"), row.getString("reason"),
				instant(row.getLong("since_micros")), instant(row.getLong("until_micros")), row.getLong("token"),
				Duration.of(row.getLong("age_micros"), ChronoUnit.MICROS), row.getBoolean("kept"));
	}

	private static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

}
