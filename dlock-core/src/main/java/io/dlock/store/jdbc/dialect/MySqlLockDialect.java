package io.dlock.store.jdbc.dialect;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;

/**
 * MySQL and MariaDB. The update count does not tell a refusal from a grant: with the
 * defaults of the drivers an upsert counts 1 in both cases. The owner of the row is read
 * back, which is the one additional round trip.
 */
final class MySqlLockDialect extends LockDialect {

	/**
	 * The number alone may belong to another session after a restart; this has the port
	 * of the client as well.
	 */
	private static final String SESSION = "SELECT CONCAT(id, ' ', host) FROM information_schema.processlist WHERE id = ";

	/**
	 * The mode decides what a statement means. It has no {@code NO_BACKSLASH_ESCAPES}:
	 * the texts of the drivers are safe without it, whatever mode they have seen.
	 */
	private static final String SESSION_SETUP = "SET SESSION innodb_lock_wait_timeout = %s, SESSION lock_wait_timeout = %s, "
			+ "SESSION sql_safe_updates = 0, SESSION sql_select_limit = 18446744073709551615, SESSION sql_big_selects = 1, SESSION sql_mode = 'STRICT_ALL_TABLES'";

	/** The session has ended, or belongs to another user and will end by itself. */
	private static final Set<Integer> NOT_KILLED = Set.of(1094, 1095);

	/** The SQL state of a transaction whose end is not known. */
	private static final String RESOLUTION_UNKNOWN = "08007";

	private final String table;

	private final String renewMany;

	private final String readBackMany;

	MySqlLockDialect(String table) {
		super((statement) -> MySqlLockSql.of(statement, table));
		this.table = table;
		this.renewMany = MySqlLockSql.renewMany(table);
		this.readBackMany = MySqlLockSql.readBackMany(table);
	}

	@Override
	public String sessionSetup(Duration commandTimeout) {
		long seconds = Math.max(1, commandTimeout.toSeconds());
		return SESSION_SETUP.formatted(seconds, seconds);
	}

	@Override
	public String session(Connection connection) throws SQLException {
		String session = session(connection, "CONNECTION_ID()");
		boolean ours = session.startsWith(threadId(connection) + " ") && session.contains(":");
		return ours ? session : "";
	}

	/**
	 * The number that the driver received. Behind a proxy it is a number of the proxy,
	 * whose sessions must not be ended; without a port in its address a session cannot be
	 * distinguished from a later one.
	 */
	private static String threadId(Connection connection) throws SQLException {
		Object driver = connection.unwrap(Connection.class);
		Object session = call(driver, "getSession");
		return String.valueOf(call((session != null) ? session : driver, "getThreadId"));
	}

	/**
	 * The drivers have no type in common, and both are optional.
	 */
	private static @Nullable Object call(Object target, String name) {
		Method method = ReflectionUtils.findMethod(target.getClass(), name);
		return (method != null) ? ReflectionUtils.invokeMethod(method, target) : null;
	}

	private static String session(Connection connection, String id) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(SESSION + id)) {
			String session = row.next() ? row.getString(1) : null;
			return (session != null) ? session : "";
		}
	}

	@Override
	public Collection<String> endSessions(Connection connection, Collection<String> sessions) throws SQLException {
		Set<String> left = new HashSet<>();
		for (String session : sessions) {
			String id = session.substring(0, session.indexOf(' '));
			if (session.equals(session(connection, id))) {
				left.add(session);
				kill(connection, id);
			}
		}
		return left;
	}

	private static void kill(Connection connection, String id) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("KILL " + id);
		}
		catch (SQLException ex) {
			if (!NOT_KILLED.contains(ex.getErrorCode())) {
				throw ex;
			}
		}
	}

	@Override
	AcquireAttempt attempt(Connection connection, AcquireCommand command) throws SQLException {
		String key = StorageKey.of(command.key());
		try (PreparedStatement statement = prepare(connection, LockStatement.ACQUIRE)) {
			LockSqlParameters.bind(statement, key, command, false);
			for (int grantable = 6; grantable <= 12; grantable += 3) {
				statement.setString(grantable, LockSqlParameters.head(command));
				statement.setString(grantable + 1, LockSqlParameters.reservation(command));
				statement.setString(grantable + 2, LockSqlParameters.releasing(command));
			}
			statement.setString(15, LockSqlParameters.entry(command.mailbox()));
			statement.executeUpdate();
		}
		try {
			return holder(connection, key, LockSqlParameters.entry(command.mailbox()), command.owner());
		}
		catch (SQLException ex) {
			// the lock may be taken, whatever the error says about the second statement
			throw new SQLException(ex.getMessage(), RESOLUTION_UNKNOWN, ex);
		}
	}

	/**
	 * The rising count of renewals makes every renewal a change of the row, so that its
	 * update count is the same for all drivers and settings; it is read back all the
	 * same.
	 */
	@Override
	public boolean renew(Connection connection, LeaseUpdate lease) throws SQLException {
		return super.renew(connection, lease) && holder(connection, lease.key(), LockSqlParameters.NONE,
				lease.owner()) instanceof AcquireAttempt.Granted;
	}

	@Override
	public int renewalsAtOnce() {
		return MySqlLockSql.RENEWALS_AT_ONCE;
	}

	@Override
	public void renew(Connection connection, List<LeaseUpdate> due, BiConsumer<Holding, RenewResult> answers)
			throws SQLException {
		String json = due.stream().map(MySqlLockDialect::json).collect(Collectors.joining(",", "[", "]"));
		try (Statement statement = connection.createStatement()) {
			statement.execute(MySqlLockSql.RENEWAL_BEGINS);
		}
		try (PreparedStatement statement = connection.prepareStatement(this.renewMany)) {
			statement.setString(1, json);
			statement.executeUpdate();
		}
		Set<LeaseUpdate> refused = new HashSet<>(due);
		try (PreparedStatement statement = connection.prepareStatement(this.readBackMany)) {
			statement.setString(1, json);
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					LeaseUpdate held = due.get(row.getInt(1) - 1);
					refused.remove(held);
					if (row.getBoolean(2)) {
						answers.accept(held.holding(), RenewResult.RENEWED);
					}
				}
			}
		}
		refused.forEach((lease) -> answers.accept(lease.holding(), RenewResult.REFUSED));
	}

	/**
	 * A storage key has no character that would have to be escaped.
	 */
	private static String json(LeaseUpdate lease) {
		String owner = lease.owner().replace("\\", "\\\\").replace("\"", "\\\"");
		return "[\"" + lease.key() + "\",\"" + owner + "\"," + lease.micros() + "]";
	}

	@Override
	String addMembers() {
		return "ALTER TABLE " + this.table + " ADD COLUMN members MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin";
	}

	@Override
	String widenQueue() {
		return "MODIFY COLUMN waiting MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL";
	}

	/**
	 * MariaDB's driver has no timeout of its own for a MySQL server.
	 */
	@Override
	String limitTableWait(int seconds) {
		return "SET @dlock_wait = @@SESSION.lock_wait_timeout, SESSION lock_wait_timeout = " + seconds;
	}

	@Override
	String restoreTableWait() {
		return "SET SESSION lock_wait_timeout = @dlock_wait";
	}

	@Override
	String limitRows(int rows) {
		return " LIMIT " + rows;
	}

	@Override
	public StoreFacts facts(Connection connection) throws SQLException {
		return DatabaseFacts.ofMySql(connection);
	}

	@Override
	void verify(Connection connection, LockTable table) throws SQLException {
		MySqlRequirements.verify(connection, table);
	}

}
