package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.jdbc.JdbcRenewal.Answers;
import io.dlock.store.jdbc.JdbcRenewal.Due;

/**
 * The SQL of one kind of database. Each decision is one auto-commit statement that reads
 * the database's clock when it has the row, and binds no time of this machine.
 */
abstract sealed class JdbcLockDialect permits PostgreSqlLockDialect, MySqlLockDialect, H2LockDialect {

	/** The effect of a collation that is not a binary one. */
	static final String MIXES_KEYS = "which takes different keys for the same";

	private static final String OTHER_DATABASE = "Use PostgreSQL, MySQL, MariaDB or H2 for the locks, or Redis.";

	private static final int QUEUE_ATTEMPTS = 3;

	private final Statements statements;

	/**
	 * Create a dialect.
	 * @param statements the SQL of the operations that are alike in all dialects but for
	 * the expressions
	 */
	JdbcLockDialect(Statements statements) {
		this.statements = statements;
	}

	/**
	 * Choose the dialect by what the database says it is.
	 * @param metaData the database
	 * @param table the lock table, a validated identifier
	 * @return the dialect
	 * @throws SQLException if the database does not answer
	 */
	static JdbcLockDialect of(DatabaseMetaData metaData, String table) throws SQLException {
		String product = metaData.getDatabaseProductName();
		return switch (product) {
			case "PostgreSQL" -> PostgreSqlLockDialect.of(metaData.getConnection(), table);
			case "MySQL", "MariaDB" -> MySqlLockDialect.of(metaData.getDatabaseProductVersion(), table);
			case "H2" -> new H2LockDialect(table);
			default -> throw new StoreMisconfiguredException("dlock does not know the database '" + product + "'.",
					OTHER_DATABASE, null);
		};
	}

	/**
	 * Refuse a database that speaks the language of another one but has many nodes, each
	 * with its own clock: a lease that one node grants is over earlier by the clock of
	 * the next.
	 * @param version the version that the database reports
	 * @param names the names by which such databases are known from their versions
	 */
	static void refuseManyClocks(String version, String... names) {
		for (String name : names) {
			if (version.contains(name)) {
				throw new StoreMisconfiguredException(
						"The lock database has a clock on each node (%s), so that two nodes may grant the same lock."
							.formatted(version),
						OTHER_DATABASE, null);
			}
		}
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
	abstract Attempt attempt(Connection connection, AcquireCommand command) throws SQLException;

	/**
	 * Acquire a key; one statement unless another process is in the way. What is left to
	 * do when the time is over but does not decide about the key is left to the next
	 * call: each statement has a timeout of its own.
	 * @param connection an auto-commit connection
	 * @param command what to take
	 * @param timeout how long the call may take
	 * @return the answer
	 * @throws SQLException if there is none
	 */
	final AcquireResult acquire(Connection connection, AcquireCommand command, Duration timeout) throws SQLException {
		long end = System.nanoTime() + timeout.toNanos();
		Attempt attempt = attempt(connection, command);
		if (attempt instanceof Attempt.Granted granted) {
			return new AcquireResult.Granted(granted.token());
		}
		String key = StorageKey.of(command.key());
		if (command.releasing() != null) {
			release(connection, key, command.releasing());
			if (isOver(end)) {
				return new AcquireResult.Refused(Duration.ZERO, null);
			}
			attempt = attempt(connection, withoutRelease(command));
			if (attempt instanceof Attempt.Granted granted) {
				return new AcquireResult.Granted(granted.token());
			}
		}
		if (!(attempt instanceof Attempt.Held held)) {
			return new AcquireResult.Refused(Duration.ZERO, null);
		}
		MailboxAddress mailbox = command.mailbox();
		boolean queueing = command.queueing() && !isOver(end);
		return (queueing && mailbox != null) ? queue(connection, key, mailbox, held) : held.refusal();
	}

	private static boolean isOver(long end) {
		return System.nanoTime() - end > 0;
	}

	/**
	 * Look who holds a key.
	 * @param connection an auto-commit connection
	 * @param storageKey the key
	 * @return held, or free by now
	 * @throws SQLException if there is no answer
	 */
	abstract Attempt holder(Connection connection, String storageKey) throws SQLException;

	/**
	 * Look who was in the way.
	 * @param connection an auto-commit connection
	 * @param query binds key; answers remaining µs, owner, holder, waiting
	 * @param storageKey the key
	 * @return held, or free by now
	 */
	static Attempt askHolder(Connection connection, String query, String storageKey) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(query)) {
			statement.setString(1, storageKey);
			try (ResultSet row = statement.executeQuery()) {
				return row.next()
						? new Attempt.Held(row.getLong(1), row.getString(2), row.getString(3), row.getString(4))
						: Attempt.FREE;
			}
		}
	}

	private static AcquireCommand withoutRelease(AcquireCommand command) {
		return new AcquireCommand(command.key(), command.owner(), command.lease(), command.holder(), command.reason(),
				command.mailbox(), command.queueing(), null);
	}

	/**
	 * Queue up behind a holder, or behind who took its place meanwhile. Only a lock that
	 * is free by now is worth another attempt at once.
	 */
	private AcquireResult queue(Connection connection, String key, MailboxAddress mailbox, Attempt.Held first)
			throws SQLException {
		Attempt.Held held = first;
		for (int i = 0; i < QUEUE_ATTEMPTS && held.hasRoomFor(mailbox) && !queue(connection, key, mailbox); i++) {
			if (!(holder(connection, key) instanceof Attempt.Held now) || !now.lasts()) {
				return new AcquireResult.Refused(Duration.ZERO, null);
			}
			held = now;
		}
		return held.refusal();
	}

	/**
	 * Queue up.
	 * @return {@code false} if the lock became free meanwhile, the queue full, or the
	 * address is queued already
	 */
	private boolean queue(Connection connection, String key, MailboxAddress mailbox) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.statements.queue())) {
			statement.setString(1, Parameters.entry(mailbox));
			statement.setString(2, key);
			statement.setString(3, Parameters.entry(mailbox));
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Listen at an address, on a connection of its own.
	 * @param connections where to get that connection, and the others that releases use
	 * @param address the address
	 * @param onTurn whom to tell
	 * @return the mailbox, or {@code null} if this database sends no messages, they do
	 * not arrive or the connections are not ours
	 * @throws SQLException if the connection fails
	 */
	@Nullable Mailbox openMailbox(LockConnections connections, MailboxAddress address, Consumer<String> onTurn)
			throws SQLException {
		return null;
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
	abstract void renew(Connection connection, List<Due> due, Answers answers) throws SQLException;

	/**
	 * Renew a lease, after a wait if need be.
	 * @param connection an auto-commit connection
	 * @param lease the lease
	 * @return whether the owner holds the key
	 * @throws SQLException if the database does not answer
	 */
	boolean renew(Connection connection, Due lease) throws SQLException {
		return update(connection, this.statements.renew(), lease);
	}

	private static boolean update(Connection connection, String update, Due lease) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(update)) {
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
		try (PreparedStatement statement = connection.prepareStatement(this.statements.release())) {
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
	final boolean keep(Connection connection, Due lease) throws SQLException {
		return update(connection, this.statements.keep(), lease);
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
		try (PreparedStatement statement = connection.prepareStatement(this.statements.hold())) {
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
		try (PreparedStatement statement = connection.prepareStatement(this.statements.leave())) {
			statement.setString(1, Parameters.entry(mailbox));
			statement.setString(2, storageKey);
			statement.executeUpdate();
		}
	}

	/**
	 * The statements that are alike in all dialects.
	 * @return the SQL
	 */
	final Statements statements() {
		return this.statements;
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
		String parameters = String.join(", ", Collections.nCopies(storageKeys.size(), "?"));
		try (PreparedStatement statement = connection
			.prepareStatement(this.statements.look().replace(Statements.KEYS, parameters))) {
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
		try (PreparedStatement statement = connection.prepareStatement(this.statements.sweep())) {
			statement.setLong(1, Parameters.micros(retention));
			return statement.executeUpdate() >= Statements.SWEEP_BATCH;
		}
	}

}
