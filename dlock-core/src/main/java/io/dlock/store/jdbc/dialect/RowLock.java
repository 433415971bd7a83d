package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import io.dlock.store.LockStore;

/**
 * Locks the row of a held lock in a transaction, so that the key is not granted again
 * until the transaction has ended.
 *
 * @param dialect the dialect
 * @param connection the connection of the transaction
 * @param timeout how long to wait for another session that has locked the row
 */
public record RowLock(LockDialect dialect, Connection connection, Duration timeout) {

	/**
	 * Lock the row.
	 * @param storageKey the key
	 * @param owner the owner
	 * @return whether the owner holds the key
	 * @throws SQLException if there is no answer
	 */
	public boolean lock(String storageKey, String owner) throws SQLException {
		boolean member = LockStore.isMember(owner);
		LockStatement lock = member ? LockStatement.LOCK_MEMBERS_ROW : LockStatement.LOCK_ROW;
		try (PreparedStatement statement = this.dialect.prepare(this.connection, lock)) {
			this.dialect.limitTime(statement, this.timeout);
			statement.setString(1, storageKey);
			if (!member) {
				statement.setString(2, owner);
			}
			try (ResultSet row = statement.executeQuery()) {
				return row.next() && (!member || isMember(row, owner));
			}
		}
	}

	private static boolean isMember(ResultSet row, String owner) throws SQLException {
		long now = row.getLong(1);
		return StoredRecord.members(StoredRecord.text(row, 2))
			.stream()
			.anyMatch((member) -> member.owner().equals(owner) && member.until() > now);
	}

}
