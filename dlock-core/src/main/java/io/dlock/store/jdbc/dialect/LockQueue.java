package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.dlock.store.LockRecord;
import io.dlock.store.MailboxAddress;
import io.dlock.store.WaitingQueue;

/**
 * The queues of the locks.
 *
 * @param dialect the dialect
 * @param connection a connection in auto-commit mode
 */
public record LockQueue(LockDialect dialect, Connection connection) {

	/**
	 * Join the queue of a key.
	 * @param storageKey the key
	 * @param mailbox the address to queue
	 * @return {@code false} if the lock became free meanwhile, the queue is full, or the
	 * address is queued already
	 * @throws SQLException if there is no answer
	 */
	boolean join(String storageKey, MailboxAddress mailbox) throws SQLException {
		try (PreparedStatement statement = this.dialect.prepare(this.connection, LockStatement.QUEUE)) {
			statement.setString(1, LockSqlParameters.entry(mailbox));
			statement.setString(2, storageKey);
			statement.setString(3, LockSqlParameters.entry(mailbox));
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Leave the queue of a key, and then give up its reservation: a release in between
	 * would otherwise reserve the key for a process that does not come.
	 * @param storageKey the key
	 * @param mailbox the address that is queued
	 * @return {@code false} if members hold the key or held it a moment ago, and it has
	 * to be left as one of them
	 * @throws SQLException if there is no answer
	 */
	public boolean leave(String storageKey, MailboxAddress mailbox) throws SQLException {
		boolean left;
		try (PreparedStatement statement = this.dialect.prepare(this.connection, LockStatement.LEAVE)) {
			statement.setString(1, WaitingQueue.entry(mailbox, false));
			statement.setString(2, WaitingQueue.entry(mailbox, true));
			statement.setString(3, storageKey);
			left = statement.executeUpdate() == 1;
		}
		String reservation = mailbox.reservationOwner();
		if (this.dialect.release(this.connection, storageKey, reservation) || left || !(this.dialect
			.holder(this.connection, storageKey, mailbox.value()) instanceof AcquireAttempt.Held held)) {
			return true;
		}
		if (held.owner().equals(reservation)) {
			this.dialect.release(this.connection, storageKey, reservation);
			return true;
		}
		return !held.owner().equals(LockRecord.MEMBERS) && !held.isQueued();
	}

	/**
	 * Find the locks that are worth an attempt.
	 * @param storageKeys the locks
	 * @param mailbox the process that waits for them
	 * @param member whether it has waited as a member
	 * @return the {@linkplain MailboxAddress#message messages} for the locks that are
	 * free or reserved for this process or one of its requests
	 * @throws SQLException if there is no answer
	 */
	public List<String> available(List<String> storageKeys, MailboxAddress mailbox, boolean member)
			throws SQLException {
		String keys = String.join(", ", Collections.nCopies(storageKeys.size(), "?"));
		LockStatement available = member ? LockStatement.AVAILABLE_TO_MEMBER : LockStatement.AVAILABLE;
		String query = this.dialect.sql(available) + " (" + keys + ")";
		try (PreparedStatement statement = this.connection.prepareStatement(query)) {
			int index = 1;
			statement.setString(index++, '>' + mailbox.processPart() + '%');
			if (member) {
				statement.setString(index++, mailbox.value());
			}
			for (String key : storageKeys) {
				statement.setString(index++, key);
			}
			try (ResultSet row = statement.executeQuery()) {
				List<String> found = new ArrayList<>();
				while (row.next()) {
					found.add(message(row.getString(1), row.getString(2), mailbox));
				}
				return found;
			}
		}
	}

	/**
	 * The lease of another owner is over if the lock is not reserved for this process.
	 */
	private static String message(String storageKey, String owner, MailboxAddress mailbox) {
		boolean reserved = owner.startsWith('>' + mailbox.processPart());
		return (reserved ? new MailboxAddress(owner.substring(1)) : mailbox).message(storageKey);
	}

}
