package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreFacts;
import io.dlock.store.jdbc.DueLease.Answers;

/**
 * The operations of the locks on one kind of database. Each decision is one auto-commit
 * statement that reads the database's clock when it has the row, and binds no time of
 * this machine.
 */
abstract class JdbcLockDialect {

	private final Map<LockStatement, String> sql = new EnumMap<>(LockStatement.class);

	/**
	 * Create a dialect.
	 * @param sql the text of each statement
	 */
	JdbcLockDialect(Function<LockStatement, String> sql) {
		for (LockStatement statement : LockStatement.values()) {
			this.sql.put(statement, sql.apply(statement));
		}
	}

	/**
	 * The text of a statement.
	 * @param statement the statement
	 * @return the SQL
	 */
	final String sql(LockStatement statement) {
		return Objects.requireNonNull(this.sql.get(statement));
	}

	/**
	 * Prepare a statement.
	 * @param connection a connection
	 * @param statement the statement
	 * @return the prepared statement
	 * @throws SQLException if the connection fails
	 */
	final PreparedStatement prepare(Connection connection, LockStatement statement) throws SQLException {
		return connection.prepareStatement(sql(statement));
	}

	/**
	 * The statement that prepares a connection of the store's own pool.
	 * @param commandTimeout how long a statement may take
	 * @return the SQL
	 */
	abstract String sessionSetup(Duration commandTimeout);

	/**
	 * The server's name for the session of a connection, which no other session ever has.
	 * @param connection an auto-commit connection
	 * @return the session; empty if the server cannot tell
	 * @throws SQLException if there is no answer
	 */
	String session(Connection connection) throws SQLException {
		return "";
	}

	/**
	 * End sessions, even if they are at work.
	 * @param connection an auto-commit connection of another session
	 * @param sessions the sessions
	 * @return those that were still there when this was asked
	 * @throws SQLException if there is no answer
	 */
	Collection<String> endSessions(Connection connection, Collection<String> sessions) throws SQLException {
		return List.of();
	}

	/**
	 * The server gives up a little before the client: its answer says that nothing
	 * happened, while a client that gives up knows nothing.
	 */
	static Duration serverLimit(Duration commandTimeout) {
		Duration limit = commandTimeout.multipliedBy(4).dividedBy(5);
		return (limit.toMillis() > 0) ? limit : Duration.ofMillis(1);
	}

	/**
	 * Take a key if it is free, or kept for this process, or held by the owner that is to
	 * release it and nobody waits.
	 * @param connection an auto-commit connection
	 * @param command what to take
	 * @return the database's answer
	 * @throws SQLException if there is none
	 */
	abstract AcquireAttempt attempt(Connection connection, AcquireCommand command) throws SQLException;

	/**
	 * Look up the holder of a key.
	 * @param connection an auto-commit connection
	 * @param storageKey the key
	 * @return held, or free by now
	 * @throws SQLException if there is no answer
	 */
	final AcquireAttempt holder(Connection connection, String storageKey) throws SQLException {
		return holder(connection, storageKey, LockSqlParameters.NONE);
	}

	/**
	 * Look up whether an owner or another one holds a key.
	 * @param connection an auto-commit connection
	 * @param storageKey the key
	 * @param owner the owner
	 * @return granted if it is this owner, held, or free by now
	 * @throws SQLException if there is no answer
	 */
	final AcquireAttempt holder(Connection connection, String storageKey, String owner) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.HOLDER)) {
			statement.setString(1, storageKey);
			try (ResultSet row = statement.executeQuery()) {
				if (!row.next()) {
					return AcquireAttempt.FREE;
				}
				return owner.equals(row.getString(2)) ? new AcquireAttempt.Granted(row.getLong(5))
						: new AcquireAttempt.Held(row.getLong(1), row.getString(2), row.getString(3), row.getString(4));
			}
		}
	}

	/**
	 * Join the queue of a key.
	 * @param connection an auto-commit connection
	 * @param storageKey the key
	 * @param mailbox the address to queue
	 * @return {@code false} if the lock became free meanwhile, the queue is full, or the
	 * address is queued already
	 * @throws SQLException if there is no answer
	 */
	final boolean queue(Connection connection, String storageKey, MailboxAddress mailbox) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.QUEUE)) {
			statement.setString(1, LockSqlParameters.entry(mailbox));
			statement.setString(2, storageKey);
			statement.setString(3, LockSqlParameters.entry(mailbox));
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Whether a release notifies the first process of the queue, and the driver hands the
	 * notification out.
	 * @return whether to listen
	 */
	boolean notifies() {
		return false;
	}

	/**
	 * Check what the lock relies on beyond the columns of the table.
	 * @param connection an auto-commit connection
	 * @param table the lock table
	 * @throws SQLException if the database does not answer
	 */
	abstract void verify(Connection connection, LockTable table) throws SQLException;

	/**
	 * How many leases one call renews at the most.
	 * @return the number
	 */
	abstract int renewalsAtOnce();

	/**
	 * Renew leases, in their order, without a wait for rows that others have locked if
	 * the database can tell; such leases get no answer.
	 * @param connection an auto-commit connection
	 * @param due the leases, each of them once
	 * @param answers takes the answers
	 * @throws SQLException if there are none
	 */
	abstract void renew(Connection connection, List<DueLease> due, Answers answers) throws SQLException;

	/**
	 * Renew a lease, after a wait if need be.
	 * @param connection an auto-commit connection
	 * @param lease the lease
	 * @return whether the owner holds the key
	 * @throws SQLException if the database does not answer
	 */
	boolean renew(Connection connection, DueLease lease) throws SQLException {
		return update(connection, LockStatement.RENEW, lease);
	}

	private boolean update(Connection connection, LockStatement update, DueLease lease) throws SQLException {
		try (PreparedStatement statement = prepare(connection, update)) {
			statement.setLong(1, lease.micros());
			statement.setString(2, lease.key());
			statement.setString(3, lease.owner());
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Free a key if this owner holds it, or keep it for the first who waits.
	 * @param connection an auto-commit connection
	 * @param storageKey the storage key
	 * @param owner the owner
	 * @return whether the owner held it
	 * @throws SQLException if the database does not answer
	 */
	final boolean release(Connection connection, String storageKey, String owner) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.RELEASE)) {
			statement.setString(1, storageKey);
			statement.setString(2, owner);
			return release(statement);
		}
	}

	/**
	 * Keep a key that this owner has released.
	 * @param connection an auto-commit connection
	 * @param lease the key, the owner and the rest of the time
	 * @return whether the owner held it
	 * @throws SQLException if the database does not answer
	 */
	final boolean keep(Connection connection, DueLease lease) throws SQLException {
		return update(connection, LockStatement.KEEP, lease);
	}

	boolean release(PreparedStatement statement) throws SQLException {
		return statement.executeUpdate() == 1;
	}

	/**
	 * Lock the row of a held lock in a transaction, so that until its end nobody is
	 * granted the key.
	 * @param connection the connection of a transaction
	 * @param storageKey the storage key
	 * @param owner the owner
	 * @param timeout how long to wait for who has locked the row
	 * @return whether the owner holds the key
	 * @throws SQLException if the database does not answer
	 */
	final boolean hold(Connection connection, String storageKey, String owner, Duration timeout) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.HOLD)) {
			limit(statement, timeout);
			statement.setString(1, storageKey);
			statement.setString(2, owner);
			try (ResultSet row = statement.executeQuery()) {
				return row.next();
			}
		}
	}

	/**
	 * Limit how long a statement on a connection of the caller takes.
	 * @param statement the statement
	 * @param timeout how long
	 * @throws SQLException if that is not possible
	 */
	void limit(PreparedStatement statement, Duration timeout) throws SQLException {
		statement.setQueryTimeout((int) Math.max(1, timeout.toSeconds()));
	}

	final void leave(Connection connection, String storageKey, MailboxAddress mailbox) throws SQLException {
		if (release(connection, storageKey, mailbox.reservation())) {
			return;
		}
		try (PreparedStatement statement = prepare(connection, LockStatement.LEAVE)) {
			statement.setString(1, LockSqlParameters.entry(mailbox));
			statement.setString(2, storageKey);
			statement.executeUpdate();
		}
	}

	/**
	 * Ends a query after some rows.
	 * @param rows how many
	 * @return what to append to it
	 */
	String first(int rows) {
		return " FETCH FIRST " + rows + " ROWS ONLY";
	}

	/**
	 * What the database says of itself.
	 * @param connection an auto-commit connection
	 * @return what is known
	 * @throws SQLException if the database does not answer
	 */
	abstract StoreFacts facts(Connection connection) throws SQLException;

	/**
	 * Look which locks are worth an attempt.
	 * @param connection an auto-commit connection
	 * @param storageKeys the locks
	 * @param mailbox the process that waits for them
	 * @return those that are free or kept for this process
	 * @throws SQLException if the database does not answer
	 */
	final List<String> look(Connection connection, List<String> storageKeys, MailboxAddress mailbox)
			throws SQLException {
		String keys = String.join(", ", Collections.nCopies(storageKeys.size(), "?"));
		try (PreparedStatement statement = connection.prepareStatement(sql(LockStatement.LOOK) + " (" + keys + ")")) {
			int index = 1;
			statement.setString(index++, mailbox.reservation());
			for (String key : storageKeys) {
				statement.setString(index++, key);
			}
			try (ResultSet row = statement.executeQuery()) {
				List<String> turns = new ArrayList<>();
				while (row.next()) {
					turns.add(row.getString(1));
				}
				return turns;
			}
		}
	}

	/**
	 * Remove rows that have been free for the retention.
	 * @param connection an auto-commit connection
	 * @param retention how long to keep them
	 * @return whether there may be more
	 * @throws SQLException if the database does not answer
	 */
	final boolean sweep(Connection connection, Duration retention) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.SWEEP)) {
			statement.setLong(1, LockSqlParameters.micros(retention));
			return statement.executeUpdate() >= LockStatement.SWEEP_BATCH;
		}
	}

}
