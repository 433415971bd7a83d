package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockRecord;
import io.dlock.store.LockRecord.Change;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.MemberAcquire;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoredLock;

/**
 * Locks that members hold. Each change reads the record of a key, computes the next one,
 * and writes it unless another session has changed the record meanwhile; then it starts
 * again. No row is locked between the two statements.
 */
public final class LockMembers {

	private final LockDialect dialect;

	private final Connection connection;

	private final long end;

	/**
	 * Prepare a call.
	 * @param dialect the dialect
	 * @param connection an auto-commit connection
	 * @param timeout how long to repeat changes that other sessions prevent
	 */
	public LockMembers(LockDialect dialect, Connection connection, Duration timeout) {
		this.dialect = dialect;
		this.connection = connection;
		this.end = System.nanoTime() + timeout.toNanos();
	}

	/**
	 * Acquire a key for a member.
	 * @param command what to acquire
	 * @return the answer
	 * @throws SQLException if there is none
	 */
	public AcquireResult acquire(AcquireCommand command) throws SQLException {
		return change(StorageKey.of(command.key()), true,
				(record, now) -> new MemberAcquire(command, now, now).on(record));
	}

	/**
	 * Refuse an exclusive request for a key that members hold. It joins the queue, or
	 * says that it still waits there. If members do not hold the key any more, it does
	 * not wait in the queue, and the refusal says so by its place.
	 * @param command the request
	 * @param inTime whether there is time to join the queue
	 * @return the refusal
	 * @throws SQLException if there is no answer
	 */
	AcquireResult refuse(AcquireCommand command, boolean inTime) throws SQLException {
		String storageKey = StorageKey.of(command.key());
		MailboxAddress mailbox = command.mailbox();
		boolean queueing = command.queueing() && inTime;
		return change(storageKey, false, (record, now) -> {
			if (queueing && !record.owner().equals(LockRecord.MEMBERS)) {
				return new Change<>(record, new AcquireResult.Refused(Duration.ZERO, null));
			}
			LockRecord next = (queueing && mailbox != null) ? record.asked(mailbox, now) : record;
			return new Change<>(next,
					new AcquireResult.Refused(Duration.of(Math.max(0, record.until() - now), ChronoUnit.MICROS),
							record.current(storageKey, now), next.waiting().place(mailbox, false, command.queueing())));
		});
	}

	/**
	 * Renew the lease of a member.
	 * @param lease the key, the member and the lease
	 * @return whether the member holds the key
	 * @throws SQLException if there is no answer
	 */
	public boolean renew(LeaseUpdate lease) throws SQLException {
		return change(lease.key(), false, (record, now) -> record.renew(lease.owner(), lease.micros(), now));
	}

	/**
	 * Release a member.
	 * @param storageKey the key
	 * @param owner the member
	 * @return whether the member held the key
	 * @throws SQLException if there is no answer
	 */
	public boolean release(String storageKey, String owner) throws SQLException {
		return change(storageKey, false, (record, now) -> record.release(owner, now));
	}

	/**
	 * Release the member that has a token.
	 * @param storageKey the key
	 * @param token the token
	 * @return whether a member had it
	 * @throws SQLException if there is no answer
	 */
	public boolean forceRelease(String storageKey, long token) throws SQLException {
		return change(storageKey, false, (record, now) -> record.forceRelease(token, now));
	}

	/**
	 * Leave the queue of a key that members hold, or give up a place that is reserved.
	 * @param storageKey the key
	 * @param mailbox the address of the process
	 * @return {@code true}
	 * @throws SQLException if there is no answer
	 */
	public boolean leave(String storageKey, MailboxAddress mailbox) throws SQLException {
		return change(storageKey, false, (record, now) -> new Change<>(record.leave(mailbox, now), true));
	}

	/**
	 * Find the members of a key.
	 * @param storageKey the key
	 * @return the members that hold it
	 * @throws SQLException if there is no answer
	 */
	List<StoredLock> find(String storageKey) throws SQLException {
		StoredRecord stored = read(storageKey, false);
		return stored.record().stored(storageKey, stored.now());
	}

	private <T> T change(String storageKey, boolean grant, Step<T> step) throws SQLException {
		do {
			StoredRecord stored = read(storageKey, grant);
			Change<T> change = step.from(stored.record(), stored.now());
			if (change.record().equals(stored.record()) || write(storageKey, grant, stored, change.record())) {
				return change.answer();
			}
		}
		while (System.nanoTime() - this.end < 0);
		throw new StoreCongestedException("Other sessions changed lock '%s' again and again".formatted(storageKey),
				null);
	}

	private PreparedStatement prepare(boolean grant, LockStatement statement) throws SQLException {
		return grant ? this.dialect.prepareGrant(this.connection, statement)
				: this.dialect.prepare(this.connection, statement);
	}

	private StoredRecord read(String storageKey, boolean grant) throws SQLException {
		try (PreparedStatement statement = prepare(grant, LockStatement.RECORD)) {
			statement.setString(1, storageKey);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				if (grant) {
					this.dialect.checkGrant(this.connection, row);
				}
				return StoredRecord.of(row);
			}
		}
		catch (SQLException ex) {
			if (SqlErrors.isMissingColumn(ex)) {
				throw new StoreMisconfiguredException(
						"The lock table has no column 'members', which shared locks and permits need (%s)."
							.formatted(String.valueOf(ex.getMessage()).replaceAll("\\s+", " ").trim()),
						"Run %s, or set dlock.jdbc.initialize-schema=always.".formatted(this.dialect.addMembers()), ex);
			}
			throw ex;
		}
	}

	/**
	 * Write a record.
	 * @return {@code false} if another session has changed the one before
	 */
	private boolean write(String storageKey, boolean grant, StoredRecord before, LockRecord next) throws SQLException {
		LockStatement write = before.exists() ? LockStatement.REPLACE : LockStatement.INSERT;
		try (PreparedStatement statement = prepare(grant, write)) {
			int index = bind(statement, storageKey, next);
			if (before.exists()) {
				return this.dialect.replace(statement, before.bind(statement, index), before.record(), next);
			}
			return statement.executeUpdate() == 1;
		}
		catch (SQLException ex) {
			if (SqlErrors.isConflict(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private int bind(PreparedStatement statement, String storageKey, LockRecord record) throws SQLException {
		int index = 1;
		statement.setString(index++, record.owner());
		statement.setLong(index++, record.until());
		statement.setLong(index++, record.token());
		statement.setLong(index++, record.since());
		statement.setString(index++, LockSqlParameters.text(record.holder(), this.dialect.isAsciiOnly()));
		statement.setString(index++, LockSqlParameters.text(record.reason(), this.dialect.isAsciiOnly()));
		statement.setString(index++, record.waiting().text());
		statement.setString(index++, StoredRecord.members(record));
		statement.setString(index++, storageKey);
		return index;
	}

	/**
	 * Computes the next record.
	 *
	 * @param <T> the type of the answer
	 */
	@FunctionalInterface
	private interface Step<T> {

		Change<T> from(LockRecord record, long now);

	}

}
