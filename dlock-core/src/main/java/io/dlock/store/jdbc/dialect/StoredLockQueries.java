package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.dlock.store.LockRecord;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;

/**
 * Finds locks that are taken. Rows of free locks are not shown: they keep the tokens.
 *
 * @param dialect the dialect
 * @param connection a connection in auto-commit mode
 * @param timeout how long to repeat the release of a member
 */
public record StoredLockQueries(LockDialect dialect, Connection connection, Duration timeout) {

	/**
	 * List locks.
	 * @param limit the largest number of locks
	 * @return the locks
	 * @throws SQLException if there is no answer
	 */
	public StoredLocks list(int limit) throws SQLException {
		List<StoredLock> found = new ArrayList<>();
		int rows = 0;
		String list = this.dialect.sql(LockStatement.LIST) + this.dialect.limitRows(limit + 1);
		try (PreparedStatement statement = this.connection.prepareStatement(list);
				ResultSet row = statement.executeQuery()) {
			while (row.next() && found.size() <= limit) {
				found.addAll(locks(row));
				rows++;
			}
		}
		StoredLocks locks = StoredLocks.of(found, limit);
		// a row of reservations has no lock
		return (rows > limit) ? new StoredLocks(locks.locks(), false) : locks;
	}

	/**
	 * Find a lock, or all members that hold it.
	 * @param storageKey the key
	 * @return the locks; none if it is free
	 * @throws SQLException if there is no answer
	 */
	public List<StoredLock> find(String storageKey) throws SQLException {
		try (PreparedStatement statement = this.dialect.prepare(this.connection, LockStatement.FIND)) {
			statement.setString(1, storageKey);
			try (ResultSet row = statement.executeQuery()) {
				return row.next() ? locks(row) : List.of();
			}
		}
	}

	/**
	 * Release a lock that has a certain token, whatever its owner.
	 * @param storageKey the key
	 * @param token the token
	 * @return whether the lock had the token
	 * @throws SQLException if there is no answer
	 */
	public boolean forceRelease(String storageKey, long token) throws SQLException {
		try (PreparedStatement statement = this.dialect.prepare(this.connection, LockStatement.FORCE_RELEASE)) {
			statement.setString(1, storageKey);
			statement.setLong(2, token);
			if (this.dialect.release(statement)) {
				return true;
			}
		}
		return this.dialect.holder(this.connection, storageKey,
				LockSqlParameters.NONE) instanceof AcquireAttempt.Held held && held.owner().equals(LockRecord.MEMBERS)
				&& members().forceRelease(storageKey, token);
	}

	private List<StoredLock> locks(ResultSet row) throws SQLException {
		String storageKey = row.getString("lock_key");
		return row.getString("owner").equals(LockRecord.MEMBERS) ? members().find(storageKey)
				: List.of(StoredLockRow.read(row));
	}

	private LockMembers members() {
		return new LockMembers(this.dialect, this.connection, this.timeout);
	}

}
