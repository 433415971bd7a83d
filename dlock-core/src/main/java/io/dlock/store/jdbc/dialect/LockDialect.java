package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockRecord;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;

/**
 * The operations of the locks on one kind of database. Each decision is one statement
 * that reads the database's clock when it has the row, and binds no time of this machine.
 * Except for {@link RowLock}, each connection is in auto-commit mode.
 */
public abstract class LockDialect {

	private final Map<LockStatement, String> sql = new EnumMap<>(LockStatement.class);

	/**
	 * Create a dialect.
	 * @param sql the text of each statement
	 */
	LockDialect(Function<LockStatement, String> sql) {
		for (LockStatement statement : LockStatement.values()) {
			this.sql.put(statement, sql.apply(statement));
		}
	}

	final String sql(LockStatement statement) {
		return Objects.requireNonNull(this.sql.get(statement));
	}

	final PreparedStatement prepare(Connection connection, LockStatement statement) throws SQLException {
		return connection.prepareStatement(sql(statement));
	}

	/**
	 * Prepare a statement that grants nothing in a quarantine. It binds the same as the
	 * one that always grants.
	 */
	PreparedStatement prepareGrant(Connection connection, LockStatement statement) throws SQLException {
		return prepare(connection, statement);
	}

	/**
	 * Check the answer of such a statement.
	 * @throws io.dlock.store.StoreQuarantinedException if the database was in quarantine
	 * @throws SQLException as after a conflict, if the call is to be repeated
	 */
	void checkGrant(Connection connection, ResultSet row) throws SQLException {
	}

	/**
	 * The statement that prepares a connection of the store's own pool.
	 * @param commandTimeout how long a statement may take
	 * @return the SQL
	 */
	public abstract String sessionSetup(Duration commandTimeout);

	/**
	 * The rest of that statement for another level of {@code synchronous_commit}.
	 * @param level the level
	 * @return the SQL
	 * @throws StoreMisconfiguredException if this database has no such levels
	 */
	public String synchronousCommit(String level) {
		throw new StoreMisconfiguredException(
				"dlock.jdbc.synchronous-commit is '%s', but only PostgreSQL has that setting.".formatted(level),
				"Set dlock.jdbc.synchronous-commit=default.", null);
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
	 * The server's name for the session of a connection, which no other session ever has.
	 * @param connection a connection
	 * @return the session; empty if the server cannot tell
	 * @throws SQLException if there is no answer
	 */
	public String session(Connection connection) throws SQLException {
		return "";
	}

	/**
	 * End sessions, even if they are at work.
	 * @param connection a connection of another session
	 * @param sessions the sessions
	 * @return the sessions that still existed before
	 * @throws SQLException if there is no answer
	 */
	public Collection<String> endSessions(Connection connection, Collection<String> sessions) throws SQLException {
		return List.of();
	}

	/**
	 * Check the part of the lock table with which no lock must be used.
	 * @param connection an auto-commit connection
	 * @param table the name of the table, which may be missing
	 * @throws SQLException if there is no answer
	 */
	public final void verifyQueue(Connection connection, String table) throws SQLException {
		new LockTable(table).verifyQueue(connection, widenQueue());
	}

	/**
	 * Check the lock table.
	 * @param connection a connection
	 * @param table the name of the table
	 * @throws SQLException if there is no answer
	 */
	public final void verify(Connection connection, String table) throws SQLException {
		LockTable lockTable = new LockTable(table);
		lockTable.verifyColumns(connection);
		verify(connection, lockTable);
	}

	/**
	 * Check the requirements of the locks beyond the columns of the table.
	 */
	abstract void verify(Connection connection, LockTable table) throws SQLException;

	/**
	 * The facts that the database reports of itself.
	 * @param connection a connection
	 * @return the facts
	 * @throws SQLException if there is no answer
	 */
	public abstract StoreFacts facts(Connection connection) throws SQLException;

	/**
	 * Take a key if it is free, or reserved for this process, or held by the owner that
	 * is to release it while no other process waits.
	 */
	abstract AcquireAttempt attempt(Connection connection, AcquireCommand command) throws SQLException;

	/**
	 * Whether several keys take one statement.
	 * @return whether {@link #attempt(Connection, List)} and
	 * {@link #release(Connection, List)} can be called
	 */
	public boolean supportsBatches() {
		return false;
	}

	/**
	 * As {@link #attempt(Connection, AcquireCommand)} for several keys.
	 * @return the tokens of the storage keys that were taken
	 */
	Map<String, Long> attempt(Connection connection, List<AcquireCommand> commands) throws SQLException {
		throw new UnsupportedOperationException();
	}

	/**
	 * Free several keys, or reserve each for the first process of its queue.
	 * @param connection a connection
	 * @param holdings the keys and their owners
	 * @return the keys that were held by their owners
	 * @throws SQLException if there is no answer
	 */
	public Set<String> release(Connection connection, List<Holding> holdings) throws SQLException {
		throw new UnsupportedOperationException();
	}

	/**
	 * The answer to an attempt that was refused. A caller that gives up a lease releases
	 * it and asks again, and need not know the holder before.
	 */
	final AcquireAttempt refused(Connection connection, String storageKey, AcquireCommand command) throws SQLException {
		return (command.releasing() != null) ? AcquireAttempt.FREE
				: holder(connection, storageKey, LockSqlParameters.entry(command.mailbox()));
	}

	/**
	 * Look up the holder of a key.
	 * @param located the text whose position in the queue is asked for
	 * @return held, or free by now
	 */
	final AcquireAttempt holder(Connection connection, String storageKey, String located) throws SQLException {
		return holder(connection, storageKey, located, LockSqlParameters.NONE);
	}

	/**
	 * Look up whether an owner or another one holds a key.
	 * @param located the text whose position in the queue is asked for
	 * @return granted if it is this owner, held, or free by now
	 */
	final AcquireAttempt holder(Connection connection, String storageKey, String located, String owner)
			throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.HOLDER)) {
			statement.setString(1, located);
			statement.setString(2, storageKey);
			try (ResultSet row = statement.executeQuery()) {
				if (!row.next()) {
					return AcquireAttempt.FREE;
				}
				String current = row.getString("owner");
				return owner.equals(current) ? new AcquireAttempt.Granted(row.getLong("token"))
						: new AcquireAttempt.Held(row.getLong("remaining_micros"), current, row.getInt("queue_length"),
								row.getInt("queue_position"), StoredLockRow.read(row));
			}
		}
	}

	/**
	 * Whether releases notify a process of its turn.
	 * @return {@code false} if the database or its driver has no notifications
	 */
	public boolean notifies() {
		return false;
	}

	/**
	 * The channel on which releases notify a process of its turn.
	 * @param mailbox the address of the process
	 * @return the channel, a plain identifier, or {@code null} if they notify none
	 */
	public @Nullable String channel(MailboxAddress mailbox) {
		return null;
	}

	/**
	 * Notify the listeners of a channel, as a release does.
	 * @param connection a connection
	 * @param channel the channel
	 * @param payload the message
	 * @return whether it is sent
	 * @throws SQLException if there is no answer
	 */
	public boolean notify(Connection connection, String channel, String payload) throws SQLException {
		return false;
	}

	/**
	 * The number of leases that one call may renew.
	 * @return the largest number
	 */
	public abstract int renewalsAtOnce();

	/**
	 * Renew leases in their order, if possible without a wait for rows that other
	 * sessions have locked; such leases get no answer.
	 * @param connection a connection
	 * @param due the leases, each of them once
	 * @param answers takes the answers
	 * @throws SQLException if there are none
	 */
	public abstract void renew(Connection connection, List<LeaseUpdate> due, BiConsumer<Holding, RenewResult> answers)
			throws SQLException;

	/**
	 * Renew a lease, after a wait for its row if necessary.
	 * @param connection a connection
	 * @param lease the lease
	 * @return whether the owner holds the key
	 * @throws SQLException if there is no answer
	 */
	public boolean renew(Connection connection, LeaseUpdate lease) throws SQLException {
		return update(connection, LockStatement.RENEW, lease);
	}

	/**
	 * Keep a key that this owner has released.
	 * @param connection a connection
	 * @param lease the key, the owner and the rest of the time
	 * @return whether the owner held it
	 * @throws SQLException if there is no answer
	 */
	public final boolean keep(Connection connection, LeaseUpdate lease) throws SQLException {
		return update(connection, LockStatement.KEEP, lease);
	}

	private boolean update(Connection connection, LockStatement update, LeaseUpdate lease) throws SQLException {
		try (PreparedStatement statement = prepare(connection, update)) {
			statement.setLong(1, lease.micros());
			statement.setString(2, lease.key());
			statement.setString(3, lease.owner());
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Free a key if this owner holds it, or reserve it for the first process of the
	 * queue.
	 * @param connection a connection
	 * @param storageKey the key
	 * @param owner the owner
	 * @return whether the owner held it
	 * @throws SQLException if there is no answer
	 */
	public final boolean release(Connection connection, String storageKey, String owner) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.RELEASE)) {
			statement.setString(1, storageKey);
			statement.setString(2, owner);
			return release(statement);
		}
	}

	/**
	 * Reserve a key whose lease is over for the first process of the queue.
	 */
	final void passExpired(Connection connection, String storageKey) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.PASS_EXPIRED)) {
			statement.setString(1, storageKey);
			release(statement);
		}
	}

	boolean release(PreparedStatement statement) throws SQLException {
		return statement.executeUpdate() == 1;
	}

	/**
	 * Limit the time of a statement on a connection of the caller.
	 */
	void limitTime(PreparedStatement statement, Duration timeout) throws SQLException {
		statement.setQueryTimeout((int) Math.max(1, timeout.toSeconds()));
	}

	/**
	 * Remove rows that have been free for the retention.
	 * @param connection a connection
	 * @param retention how long to keep them
	 * @return whether there may be more
	 * @throws SQLException if there is no answer
	 */
	public final boolean sweep(Connection connection, Duration retention) throws SQLException {
		try (PreparedStatement statement = prepare(connection, LockStatement.SWEEP)) {
			statement.setLong(1, LockSqlParameters.micros(retention));
			return statement.executeUpdate() >= LockStatement.SWEEP_BATCH;
		}
	}

	/**
	 * The statement that adds the column of the members.
	 * @return the SQL
	 */
	abstract String addMembers();

	/**
	 * The change of the column of the queue that gives it room for all places.
	 * @return the end of an {@code ALTER TABLE} statement
	 */
	abstract String widenQueue();

	/**
	 * The statement that limits the wait for other users of a table if a timeout of the
	 * client does not.
	 * @param seconds the longest wait
	 * @return the SQL, or an empty text
	 */
	String limitTableWait(int seconds) {
		return "";
	}

	/**
	 * The statement that undoes {@link #limitTableWait}.
	 * @return the SQL, or an empty text
	 */
	String restoreTableWait() {
		return "";
	}

	/**
	 * Whether the database does not store every character.
	 */
	boolean isAsciiOnly() {
		return false;
	}

	/**
	 * Run {@link LockStatement#REPLACE}.
	 * @param index the index of the first parameter of this dialect
	 * @return whether the record had not changed
	 */
	boolean replace(PreparedStatement statement, int index, LockRecord before, LockRecord next) throws SQLException {
		return statement.executeUpdate() == 1;
	}

	/**
	 * The end of a query that answers a limited number of rows.
	 */
	String limitRows(int rows) {
		return " FETCH FIRST " + rows + " ROWS ONLY";
	}

}
