package io.dlock.store.jdbc;

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
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.jdbc.JdbcRenewal.Answers;
import io.dlock.store.jdbc.JdbcRenewal.Due;

/**
 * MySQL and MariaDB. An update count says nothing here: with the drivers' defaults an
 * upsert that was refused and one that was granted both count 1. Who owns the row
 * afterwards is read back, which is the one additional round trip.
 */
final class MySqlLockDialect extends JdbcLockDialect {

	/** Each batch of so many renewals takes three round trips. */
	private static final int RENEWALS_AT_ONCE = 2000;

	private static final String NOW_MICROS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

	private static final String LEASE_END = "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND";

	/**
	 * Assignments run from left to right, so the owner is decided on the old lease and
	 * all that follows on the new owner; the lease comes last. An owner that has not
	 * acquired just now held the lock before, and its lease is never shortened.
	 * {@code VALUES()} is deprecated in MySQL, but MariaDB does not know its replacement.
	 */
	private static final String ACQUIRE = """
			INSERT INTO %1$s (lock_key, owner, token, acquired_at, lease_until, renewals, holder, reason, waiting)
			VALUES (?, ?, %2$s, UTC_TIMESTAMP(6), %3$s, 0, ?, ?, '')
			ON DUPLICATE KEY UPDATE
			  token = IF(owner <> VALUES(owner) AND %4$s, GREATEST(token + 1, %2$s), token),
			  acquired_at = IF(owner <> VALUES(owner) AND %4$s, UTC_TIMESTAMP(6), acquired_at),
			  owner = IF(%4$s, VALUES(owner), owner),
			  waiting = IF(owner = VALUES(owner), REPLACE(waiting, ?, ''), waiting),
			  renewals = IF(owner = VALUES(owner), 0, renewals),
			  holder = IF(owner = VALUES(owner), VALUES(holder), holder),
			  reason = IF(owner = VALUES(owner), VALUES(reason), reason),
			  lease_until = IF(owner <> VALUES(owner) OR (acquired_at <> VALUES(acquired_at) AND lease_until > VALUES(lease_until)),
			    lease_until, VALUES(lease_until))
			""";

	private static final String GRANTABLE = "(lease_until <= UTC_TIMESTAMP(6) OR owner IN ('', ?) OR (owner = ? AND waiting = ''))";

	/**
	 * A proxy that sends reads to replicas sends this to the primary, because of its end.
	 * It locks no row all the same, because the rows of an inner query are only read.
	 */
	private static final String ON_PRIMARY = "SELECT * FROM (%s LIMIT " + RENEWALS_AT_ONCE + ") held FOR UPDATE";

	private static final String READ_BACK = """
			SELECT owner, token, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), lease_until), holder, waiting
			FROM %s WHERE lock_key = ?
			""";

	/**
	 * The leases as rows, from one bound value. Without collations of its own the join
	 * would fold the keys and find no index.
	 */
	private static final String DUE = """
			JSON_TABLE(?, '$[*]' COLUMNS (position FOR ORDINALITY,
			  lock_key VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]',
			  owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin PATH '$[1]', lease BIGINT PATH '$[2]')) due
			""";

	private static final String RENEWAL_BEGINS = "SET @dlock_renewal = " + NOW_MICROS;

	/**
	 * Locks rows only that nobody else has locked, in the order in which they are given.
	 * The limit keeps the inner part from being merged with the outer one.
	 */
	private static final String RENEW_MANY = """
			UPDATE %1$s l JOIN (
			  SELECT f.lock_key, due.lease FROM %2$s STRAIGHT_JOIN %1$s f
			  ON f.lock_key = due.lock_key AND f.owner = due.owner LIMIT %3$d FOR UPDATE SKIP LOCKED
			) free ON l.lock_key = free.lock_key
			SET l.lease_until = GREATEST(l.lease_until, UTC_TIMESTAMP(6) + INTERVAL free.lease MICROSECOND),
			  l.renewals = l.renewals + 1
			WHERE l.lease_until > UTC_TIMESTAMP(6)
			""";

	/**
	 * What is held and lasts as long as it does if renewed since the renewal began, is
	 * renewed, whoever has done it.
	 */
	private static final String READ_BACK_MANY = """
			SELECT due.position, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', l.lease_until) >= @dlock_renewal + due.lease AS lasts
			FROM %2$s STRAIGHT_JOIN %1$s l
			ON l.lock_key = due.lock_key AND l.owner = due.owner AND l.lease_until > UTC_TIMESTAMP(6)
			""";

	/**
	 * The number alone may belong to another session after a restart; this has the port
	 * of the client as well.
	 */
	private static final String SESSION = "SELECT CONCAT(id, ' ', host) FROM information_schema.processlist WHERE id = ";

	/** The session ended by itself, or belongs to another user and will end so. */
	private static final Set<Integer> NOT_KILLED = Set.of(1094, 1095);

	/** The SQL state of a transaction whose end is not known. */
	private static final String RESOLUTION_UNKNOWN = "08007";

	private final String acquire;

	private final String readBack;

	private final String renewMany;

	private final String readBackMany;

	/**
	 * Find out which database this is.
	 * @param version the version that the database reports
	 * @param table the lock table
	 * @return the dialect
	 */
	static MySqlLockDialect of(String version, String table) {
		refuseManyClocks(version, "TiDB");
		return new MySqlLockDialect(table);
	}

	private MySqlLockDialect(String table) {
		super(new Statements("""
				UPDATE %s SET lease_until = GREATEST(lease_until, %s), renewals = renewals + 1
				WHERE lock_key = ? AND owner = ? AND lease_until > UTC_TIMESTAMP(6)
				""".formatted(table, LEASE_END), """
				UPDATE %s SET
				  owner = IF(waiting = '', '', CONCAT('>', LEFT(waiting, 16))),
				  lease_until = UTC_TIMESTAMP(6) + INTERVAL IF(waiting = '', 0, LEFT(waiting, 4) * 1000) MICROSECOND,
				  waiting = SUBSTR(waiting, 18)
				WHERE lock_key = ? AND owner = ?
				""".formatted(table), Statements.keeping(table, LEASE_END, "UTC_TIMESTAMP(6)"), """
				UPDATE %s SET waiting = CONCAT(waiting, ?) WHERE lock_key = ? AND lease_until > UTC_TIMESTAMP(6)
				  AND CHAR_LENGTH(waiting) < %d AND LOCATE(?, waiting) = 0
				""".formatted(table, Statements.FULL_QUEUE), """
				UPDATE %s SET waiting = REPLACE(waiting, ?, '') WHERE lock_key = ?
				""".formatted(table),
				"""
						SELECT lock_key, holder, reason, token, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', acquired_at) AS since_micros,
						  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', lease_until) AS until_micros,
						  TIMESTAMPDIFF(MICROSECOND, acquired_at, UTC_TIMESTAMP(6)) AS age_micros, owner LIKE '~%%' AS kept
						FROM %s WHERE lease_until > UTC_TIMESTAMP(6) AND owner <> '' AND owner NOT LIKE '>%%'
						"""
					.formatted(table),
				"""
						SELECT lock_key FROM %s WHERE (owner = ? OR lease_until <= UTC_TIMESTAMP(6)) AND lock_key IN (%s)
						"""
					.formatted(table, Statements.KEYS),
				"""
						DELETE FROM %s WHERE lease_until < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND LIMIT %d
						""".formatted(table, Statements.SWEEP_BATCH), """
						SELECT 1 FROM %s WHERE lock_key = ? AND owner = ? AND lease_until > UTC_TIMESTAMP(6) FOR UPDATE
						""".formatted(table)));
		this.acquire = ACQUIRE.formatted(table, NOW_MICROS, LEASE_END, GRANTABLE);
		this.readBack = ON_PRIMARY.formatted(READ_BACK.formatted(table));
		this.renewMany = RENEW_MANY.formatted(table, DUE, RENEWALS_AT_ONCE);
		this.readBackMany = ON_PRIMARY.formatted(READ_BACK_MANY.formatted(table, DUE));
	}

	@Override
	String sessionSetup(Duration commandTimeout) {
		long seconds = Math.max(1, commandTimeout.toSeconds());
		return "SET SESSION innodb_lock_wait_timeout = %d, SESSION lock_wait_timeout = %d".formatted(seconds, seconds);
	}

	@Override
	String session(Connection connection) throws SQLException {
		String session = session(connection, "CONNECTION_ID()");
		boolean ours = session.startsWith(threadId(connection) + " ") && session.contains(":");
		return ours ? session : "";
	}

	/**
	 * The number that the driver was given. Behind a proxy it is one of the proxy, whose
	 * sessions are not to be ended; without a port in its address a session cannot be
	 * told from a later one.
	 */
	private static String threadId(Connection connection) throws SQLException {
		Object driver = connection.unwrap(Connection.class);
		Object session = call(driver, "getSession");
		return String.valueOf(call((session != null) ? session : driver, "getThreadId"));
	}

	/**
	 * The drivers have no type in common, and neither has to be there.
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
	Collection<String> endSessions(Connection connection, Collection<String> sessions) throws SQLException {
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
	Attempt attempt(Connection connection, AcquireCommand command) throws SQLException {
		String key = StorageKey.of(command.key());
		try (PreparedStatement statement = connection.prepareStatement(this.acquire)) {
			Parameters.bind(statement, key, command, false);
			for (int grantable = 6; grantable <= 10; grantable += 2) {
				statement.setString(grantable, Parameters.reservation(command));
				statement.setString(grantable + 1, Parameters.releasing(command));
			}
			statement.setString(12, Parameters.entry(command.mailbox()));
			statement.executeUpdate();
		}
		try {
			return readBack(connection, key, command.owner());
		}
		catch (SQLException ex) {
			// the lock may be taken, whatever the error says about the second statement
			throw new SQLException(ex.getMessage(), RESOLUTION_UNKNOWN, ex);
		}
	}

	@Override
	Attempt holder(Connection connection, String storageKey) throws SQLException {
		return readBack(connection, storageKey, Parameters.NOBODY);
	}

	private Attempt readBack(Connection connection, String key, String owner) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.readBack)) {
			statement.setString(1, key);
			try (ResultSet row = statement.executeQuery()) {
				if (!row.next()) {
					return Attempt.FREE;
				}
				if (owner.equals(row.getString(1))) {
					return new Attempt.Granted(row.getLong(2));
				}
				return new Attempt.Held(row.getLong(3), row.getString(1), row.getString(4), row.getString(5));
			}
		}
	}

	/**
	 * The rising count of renewals makes every renewal a change of the row, so that its
	 * update count is the same for all drivers and settings; it is read back all the
	 * same.
	 */
	@Override
	boolean renew(Connection connection, Due lease) throws SQLException {
		return super.renew(connection, lease)
				&& readBack(connection, lease.key(), lease.owner()) instanceof Attempt.Granted;
	}

	@Override
	int renewalsAtOnce() {
		return RENEWALS_AT_ONCE;
	}

	@Override
	void renew(Connection connection, List<Due> due, Answers answers) throws SQLException {
		String json = due.stream().map(MySqlLockDialect::json).collect(Collectors.joining(",", "[", "]"));
		try (Statement statement = connection.createStatement()) {
			statement.execute(RENEWAL_BEGINS);
		}
		try (PreparedStatement statement = connection.prepareStatement(this.renewMany)) {
			statement.setString(1, json);
			statement.executeUpdate();
		}
		Set<Due> refused = new HashSet<>(due);
		try (PreparedStatement statement = connection.prepareStatement(this.readBackMany)) {
			statement.setString(1, json);
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					Due held = due.get(row.getInt(1) - 1);
					refused.remove(held);
					if (row.getBoolean(2)) {
						answers.answer(held.holding(), RenewResult.RENEWED);
					}
				}
			}
		}
		refused.forEach((lease) -> answers.answer(lease.holding(), RenewResult.REFUSED));
	}

	/**
	 * A storage key has no character that would have to be escaped.
	 */
	private static String json(Due lease) {
		String owner = lease.owner().replace("\\", "\\\\").replace("\"", "\\\"");
		return "[\"" + lease.key() + "\",\"" + owner + "\"," + lease.micros() + "]";
	}

	@Override
	String first(int rows) {
		return " LIMIT " + rows;
	}

	@Override
	StoreFacts facts(Connection connection) throws SQLException {
		return JdbcFacts.ofMySql(connection);
	}

	@Override
	void verify(Connection connection, LockTable table) throws SQLException {
		MySqlRequirements.verify(connection, table);
	}

}
