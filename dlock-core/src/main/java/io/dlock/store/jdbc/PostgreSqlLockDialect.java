package io.dlock.store.jdbc;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.springframework.util.ClassUtils;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.jdbc.JdbcRenewal.Answers;
import io.dlock.store.jdbc.JdbcRenewal.Due;

/**
 * PostgreSQL. The clock is {@code clock_timestamp()} throughout: {@code now()} stands
 * still in a transaction, and a lease that was computed before a wait for the row would
 * be born expired.
 */
final class PostgreSqlLockDialect extends JdbcLockDialect {

	private static final Log logger = LogFactory.getLog(PostgreSqlLockDialect.class);

	private static final boolean PGJDBC = ClassUtils.isPresent("org.postgresql.PGConnection",
			PostgreSqlLockDialect.class.getClassLoader());

	private static final String NOW_MICROS = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

	private static final String LEASE_END = "clock_timestamp() + ? * interval '1 microsecond'";

	/**
	 * The statement does not wait for the disk. A release or a place in the queue that a
	 * crash of the server undoes costs the rest of a lease; a lock must not be undone.
	 */
	private static final String NOT_DURABLE = "set_config('synchronous_commit', 'off', true) = 'off'";

	private static final String CHANNEL_PREFIX = "dlock_";

	/**
	 * The condition and the assignments are evaluated on the locked row, so that exactly
	 * one of several contenders wins.
	 */
	private static final String ACQUIRE = """
			INSERT INTO %1$s AS l (lock_key, owner, token, acquired_at, lease_until, renewals, holder, reason, waiting)
			VALUES (?, ?, %2$s, clock_timestamp(), %3$s, 0, ?, ?, '')
			ON CONFLICT (lock_key) DO UPDATE SET
			  token = CASE WHEN l.owner = EXCLUDED.owner THEN l.token ELSE greatest(l.token + 1, %2$s) END,
			  acquired_at = CASE WHEN l.owner = EXCLUDED.owner THEN l.acquired_at ELSE clock_timestamp() END,
			  owner = EXCLUDED.owner,
			  lease_until = greatest(CASE WHEN l.owner = EXCLUDED.owner THEN l.lease_until END, %3$s),
			  renewals = 0,
			  holder = EXCLUDED.holder,
			  reason = EXCLUDED.reason,
			  waiting = replace(l.waiting, ?, '')
			WHERE l.lease_until <= clock_timestamp() OR l.owner IN ('', EXCLUDED.owner, ?) OR (l.owner = ? AND l.waiting = '')
			RETURNING token
			""";

	private static final String HOLDER = """
			SELECT (extract(epoch FROM lease_until - clock_timestamp()) * 1000000)::bigint, owner, holder, waiting
			FROM %s WHERE lock_key = ?
			""";

	/**
	 * Locks rows only that nobody else has locked, so that it waits for nothing and is in
	 * no deadlock; the update then decides on the locked rows. What it did not renew is
	 * refused if its owner does not hold it, and without an answer otherwise.
	 */
	private static final String RENEW_MANY = """
			WITH due AS (
			  SELECT * FROM unnest(?, ?, ?) WITH ORDINALITY AS due (lock_key, owner, lease, position)
			), free AS (
			  SELECT l.lock_key, due.lease, due.position
			  FROM due JOIN %1$s l ON l.lock_key = due.lock_key AND l.owner = due.owner
			  ORDER BY l.lock_key FOR UPDATE OF l SKIP LOCKED
			), renewed AS (
			  UPDATE %1$s l
			  SET lease_until = greatest(l.lease_until, clock_timestamp() + free.lease * interval '1 microsecond'),
			    renewals = l.renewals + 1
			  FROM free WHERE l.lock_key = free.lock_key AND l.lease_until > clock_timestamp()
			  RETURNING free.position
			)
			SELECT position, TRUE FROM renewed
			UNION ALL
			SELECT position, FALSE FROM due WHERE NOT EXISTS (
			  SELECT FROM %1$s l
			  WHERE l.lock_key = due.lock_key AND l.owner = due.owner AND l.lease_until > clock_timestamp())
			""";

	/** The number alone may belong to another session after a restart. */
	private static final String SESSION = "pid || ' ' || extract(epoch FROM backend_start)";

	/** The right to see the sessions of another user is not the right to end them. */
	private static final String TERMINATE = "CASE WHEN pg_has_role(usesysid, 'USAGE') THEN pg_terminate_backend(pid) END";

	private static final int RENEWALS_AT_ONCE = 1000;

	/**
	 * Returns a row if the keys are in the order of a library, which may change with its
	 * next version, and not in that of the bytes.
	 */
	private static final String FOREIGN_COLLATION = """
			WITH found AS (
			  SELECT CASE c.collprovider WHEN 'd' THEN d.datcollate ELSE c.collname END AS name,
			    CASE c.collprovider WHEN 'd' THEN coalesce(to_jsonb(d) ->> 'datlocprovider', 'c')
			      ELSE c.collprovider::text END AS provider
			  FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
			    JOIN pg_class t ON t.oid = a.attrelid
			    JOIN pg_database d ON d.datname = current_database()
			  WHERE a.attname = 'lock_key' AND t.oid = to_regclass(concat_ws('.', ?::text, ?::text)))
			SELECT name FROM found WHERE provider <> 'b' AND NOT (provider = 'c' AND name IN ('C', 'POSIX'))
			""";

	private final boolean asciiOnly;

	private final String acquire;

	private final String holder;

	private final String renewMany;

	/**
	 * Find out which database this is.
	 * @param connection a connection
	 * @param table the lock table
	 * @return the dialect
	 * @throws SQLException if the database does not answer
	 */
	static PostgreSqlLockDialect of(Connection connection, String table) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT version(), current_setting('server_encoding')")) {
			row.next();
			refuseManyClocks(row.getString(1), "CockroachDB", "-YB-", "Yugabyte");
			return new PostgreSqlLockDialect(table, !"UTF8".equals(row.getString(2)));
		}
	}

	private PostgreSqlLockDialect(String table, boolean asciiOnly) {
		super(new Statements("""
				UPDATE %s SET lease_until = greatest(lease_until, %s), renewals = renewals + 1
				WHERE lock_key = ? AND owner = ? AND lease_until > clock_timestamp()
				""".formatted(table, LEASE_END), """
				UPDATE %s SET
				  owner = CASE waiting WHEN '' THEN '' ELSE '>' || substr(waiting, 1, 16) END,
				  lease_until = clock_timestamp() + CASE waiting WHEN '' THEN interval '0'
				    ELSE substr(waiting, 1, 4)::int * interval '1 millisecond' END,
				  waiting = substr(waiting, 18)
				WHERE lock_key = ? AND owner = ? AND %s
				RETURNING CASE owner WHEN '' THEN NULL ELSE pg_notify('%s' || substr(owner, 2), lock_key)::text END
				""".formatted(table, NOT_DURABLE, CHANNEL_PREFIX),
				Statements.keeping(table, LEASE_END, "clock_timestamp()"), """
						UPDATE %s SET waiting = waiting || ?
						WHERE lock_key = ? AND lease_until > clock_timestamp()
						  AND char_length(waiting) < %d AND strpos(waiting, ?) = 0 AND %s
						""".formatted(table, Statements.FULL_QUEUE, NOT_DURABLE), """
						UPDATE %s SET waiting = replace(waiting, ?, '') WHERE lock_key = ? AND %s
						""".formatted(table, NOT_DURABLE),
				"""
						SELECT lock_key, holder, reason, token, (extract(epoch FROM acquired_at) * 1000000)::bigint AS since_micros,
						  (extract(epoch FROM lease_until) * 1000000)::bigint AS until_micros,
						  (extract(epoch FROM clock_timestamp() - acquired_at) * 1000000)::bigint AS age_micros,
						  owner LIKE '~%%' AS kept
						FROM %s WHERE lease_until > clock_timestamp() AND owner <> '' AND owner NOT LIKE '>%%'
						"""
					.formatted(table),
				"""
						SELECT lock_key FROM %s WHERE (owner = ? OR lease_until <= clock_timestamp()) AND lock_key IN (%s)
						"""
					.formatted(table, Statements.KEYS),
				"""
						DELETE FROM %1$s WHERE lock_key IN (
						  SELECT lock_key FROM %1$s WHERE lease_until < clock_timestamp() - ? * interval '1 microsecond'
						  LIMIT %2$d FOR UPDATE SKIP LOCKED)
						""".formatted(table, Statements.SWEEP_BATCH), """
						SELECT 1 FROM %s WHERE lock_key = ? AND owner = ? AND lease_until > clock_timestamp() FOR UPDATE
						""".formatted(table)));
		this.asciiOnly = asciiOnly;
		this.acquire = ACQUIRE.formatted(table, NOW_MICROS, LEASE_END);
		this.holder = HOLDER.formatted(table);
		this.renewMany = RENEW_MANY.formatted(table);
	}

	/**
	 * An acknowledged lock must survive a crash of the server, whatever its default is.
	 */
	@Override
	String sessionSetup(Duration commandTimeout) {
		long millis = serverLimit(commandTimeout).toMillis();
		return "SET synchronous_commit = on; SET lock_timeout = %d; SET statement_timeout = %d".formatted(millis,
				millis);
	}

	/**
	 * Behind a pooler a session belongs to one client after the other.
	 */
	@Override
	String session(Connection connection) throws SQLException {
		if (!PGJDBC || !connection.isWrapperFor(PGConnection.class)) {
			return "";
		}
		String query = "SELECT pid, " + SESSION + " FROM pg_stat_get_activity(pg_backend_pid())";
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(query)) {
			boolean ours = row.next() && row.getInt(1) == connection.unwrap(PGConnection.class).getBackendPID();
			String session = ours ? row.getString(2) : null;
			return (session != null) ? session : "";
		}
	}

	@Override
	Collection<String> endSessions(Connection connection, Collection<String> sessions) throws SQLException {
		String query = "SELECT %s, %s FROM pg_stat_activity WHERE %1$s = ANY(?)".formatted(SESSION, TERMINATE);
		try (PreparedStatement statement = connection.prepareStatement(query)) {
			statement.setArray(1, array(connection, "text", sessions.stream()));
			try (ResultSet row = statement.executeQuery()) {
				Collection<String> left = new ArrayList<>();
				while (row.next()) {
					left.add(row.getString(1));
				}
				return left;
			}
		}
	}

	@Override
	Attempt attempt(Connection connection, AcquireCommand command) throws SQLException {
		String key = StorageKey.of(command.key());
		try (PreparedStatement statement = connection.prepareStatement(this.acquire)) {
			Parameters.bind(statement, key, command, this.asciiOnly);
			statement.setLong(6, Parameters.micros(command.lease()));
			statement.setString(7, Parameters.entry(command.mailbox()));
			statement.setString(8, Parameters.reservation(command));
			statement.setString(9, Parameters.releasing(command));
			try (ResultSet row = statement.executeQuery()) {
				if (row.next()) {
					return new Attempt.Granted(row.getLong(1));
				}
			}
		}
		return holder(connection, key);
	}

	@Override
	Attempt holder(Connection connection, String storageKey) throws SQLException {
		return askHolder(connection, this.holder, storageKey);
	}

	@Override
	boolean release(PreparedStatement statement) throws SQLException {
		try (ResultSet row = statement.executeQuery()) {
			return row.next();
		}
	}

	@Override
	@Nullable Mailbox openMailbox(LockConnections connections, MailboxAddress address, Consumer<String> onTurn)
			throws SQLException {
		return (PGJDBC && connections.areOwn())
				? PostgreSqlMailbox.open(
						connections.mailboxPool(PostgreSqlMailbox::promptly), connections.commandTimeout(),
						CHANNEL_PREFIX + address.value(), (channel, payload) -> connections.execute(false,
								"send a message", (dialect, connection) -> send(connection, channel, payload)),
						onTurn)
				: null;
	}

	private static boolean send(Connection connection, String channel, String payload) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
			statement.setString(1, channel);
			statement.setString(2, payload);
			return statement.execute();
		}
	}

	@Override
	int renewalsAtOnce() {
		return RENEWALS_AT_ONCE;
	}

	@Override
	void renew(Connection connection, List<Due> due, Answers answers) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.renewMany)) {
			statement.setArray(1, array(connection, "text", due.stream().map(Due::key)));
			statement.setArray(2, array(connection, "text", due.stream().map(Due::owner)));
			statement.setArray(3, array(connection, "bigint", due.stream().map(Due::micros)));
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					answers.answer(due.get(row.getInt(1) - 1).holding(),
							row.getBoolean(2) ? RenewResult.RENEWED : RenewResult.REFUSED);
				}
			}
		}
	}

	private static Array array(Connection connection, String type, Stream<?> elements) throws SQLException {
		return connection.createArrayOf(type, elements.toArray());
	}

	@Override
	StoreFacts facts(Connection connection) throws SQLException {
		return JdbcFacts.ofPostgreSql(connection);
	}

	@Override
	void verify(Connection connection, LockTable table) throws SQLException {
		table.ask(connection, FOREIGN_COLLATION, (row) -> {
			throw table.wrongCollation("lock_key", row.getString(1),
					"which changes with the operating system: its index may then miss a lock, and there are two",
					"ALTER COLUMN lock_key TYPE VARCHAR(512) COLLATE \"C\"");
		});
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT current_setting('synchronous_commit')")) {
			if (row.next() && "off".equals(row.getString(1))) {
				logger.warn("synchronous_commit is off on the lock connections: "
						+ "a crash of PostgreSQL may give away a lock that is held. Switch it on for the lock's user");
			}
		}
	}

}
