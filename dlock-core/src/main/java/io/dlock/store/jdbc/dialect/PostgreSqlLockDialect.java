package io.dlock.store.jdbc.dialect;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.springframework.util.ClassUtils;

import io.dlock.store.LockRecord;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.Quarantine;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.WaitingQueue;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;

/**
 * PostgreSQL.
 */
final class PostgreSqlLockDialect extends LockDialect {

	private static final Log logger = LogFactory.getLog(PostgreSqlLockDialect.class);

	private static final boolean PGJDBC = ClassUtils.isPresent("org.postgresql.PGConnection",
			PostgreSqlLockDialect.class.getClassLoader());

	/** The process id alone may be that of another session after a restart. */
	private static final String SESSION = "pid || ' ' || extract(epoch FROM backend_start)";

	/** The right to see the sessions of another user is not the right to end them. */
	private static final String TERMINATE = "CASE WHEN pg_has_role(usesysid, 'USAGE') THEN pg_terminate_backend(pid) END";

	private static final int RENEWALS_AT_ONCE = 1000;

	/**
	 * Returns a row if the keys are sorted by a collation library, whose order may change
	 * with its next version, and not by their bytes.
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

	private static final String UNLOGGED = """
			SELECT relname FROM pg_class
			WHERE oid = to_regclass(concat_ws('.', ?::text, ?::text)) AND relpersistence = 'u'
			""";

	private final boolean asciiOnly;

	private final boolean notifies;

	private final String table;

	private final String renewMany;

	private final String acquireMany;

	private final String releaseMany;

	private final @Nullable PostgreSqlQuarantine quarantine;

	PostgreSqlLockDialect(String table, boolean asciiOnly, boolean notifies, @Nullable Quarantine quarantine) {
		super((statement) -> PostgreSqlLockSql.of(statement, table, notifies));
		this.notifies = notifies && PGJDBC;
		this.table = table;
		this.asciiOnly = asciiOnly;
		this.renewMany = PostgreSqlLockSql.renewMany(table);
		this.quarantine = (quarantine != null) ? new PostgreSqlQuarantine(table, notifies, quarantine) : null;
		this.acquireMany = (this.quarantine != null) ? this.quarantine.acquireMany()
				: PostgreSqlLockSql.acquireMany(table);
		this.releaseMany = PostgreSqlLockSql.releaseMany(table, notifies);
	}

	/**
	 * An acknowledged lock must survive a crash of the server, whatever the default of
	 * the server is. A pool sets the isolation of a connection only if its first
	 * connection had another one.
	 */
	@Override
	public String sessionSetup(Duration commandTimeout) {
		long millis = serverLimit(commandTimeout).toMillis();
		return "SET default_transaction_isolation = 'read committed'; SET synchronous_commit = on; SET lock_timeout = %s; SET statement_timeout = %s"
			.formatted(millis, millis);
	}

	@Override
	public String synchronousCommit(String level) {
		return "; SET synchronous_commit = " + level;
	}

	/**
	 * Behind a pooler a session belongs to one client after the other.
	 */
	@Override
	public String session(Connection connection) throws SQLException {
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
	public Collection<String> endSessions(Connection connection, Collection<String> sessions) throws SQLException {
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
	AcquireAttempt attempt(Connection connection, AcquireCommand command) throws SQLException {
		String key = StorageKey.of(command.key());
		try (PreparedStatement statement = prepareGrant(connection, LockStatement.ACQUIRE)) {
			LockSqlParameters.bind(statement, key, command, this.asciiOnly);
			statement.setLong(6, LockSqlParameters.micros(command.lease()));
			statement.setString(7, LockSqlParameters.entry(command.mailbox()));
			statement.setString(8, LockSqlParameters.head(command));
			statement.setString(9, LockSqlParameters.reservation(command));
			statement.setString(10, LockSqlParameters.releasing(command));
			try (ResultSet row = statement.executeQuery()) {
				if (row.next()) {
					checkGrant(connection, row);
					return new AcquireAttempt.Granted(row.getLong(1));
				}
			}
		}
		return refused(connection, key, command);
	}

	@Override
	PreparedStatement prepareGrant(Connection connection, LockStatement statement) throws SQLException {
		return (this.quarantine != null) ? connection.prepareStatement(this.quarantine.sql(statement))
				: super.prepareGrant(connection, statement);
	}

	@Override
	void checkGrant(Connection connection, ResultSet row) throws SQLException {
		if (this.quarantine != null) {
			this.quarantine.check(connection, row);
		}
	}

	@Override
	public boolean supportsBatches() {
		return true;
	}

	@Override
	Map<String, Long> attempt(Connection connection, List<AcquireCommand> commands) throws SQLException {
		AcquireCommand any = commands.get(0);
		try (PreparedStatement statement = connection.prepareStatement(this.acquireMany)) {
			statement.setLong(1, LockSqlParameters.micros(any.lease()));
			statement.setString(2, LockSqlParameters.text(any.holder(), this.asciiOnly));
			statement.setString(3, LockSqlParameters.text(any.reason(), this.asciiOnly));
			statement.setArray(4,
					array(connection, "text", commands.stream().map((command) -> StorageKey.of(command.key()))));
			statement.setArray(5, array(connection, "text", commands.stream().map(AcquireCommand::owner)));
			statement.setLong(6, LockSqlParameters.micros(any.lease()));
			statement.setString(7, LockSqlParameters.entry(any.mailbox()));
			statement.setString(8, LockSqlParameters.head(any));
			statement.setString(9, LockSqlParameters.reservation(any));
			statement.setString(10, LockSqlParameters.NONE);
			try (ResultSet row = statement.executeQuery()) {
				Map<String, Long> tokens = new HashMap<>();
				while (row.next()) {
					checkGrant(connection, row);
					tokens.put(row.getString(2), row.getLong(1));
				}
				return tokens;
			}
		}
	}

	@Override
	public Set<String> release(Connection connection, List<Holding> holdings) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.releaseMany)) {
			statement.setArray(1, array(connection, "text", holdings.stream().map(Holding::key)));
			statement.setArray(2, array(connection, "text", holdings.stream().map(Holding::owner)));
			try (ResultSet row = statement.executeQuery()) {
				Set<String> released = new HashSet<>();
				while (row.next()) {
					released.add(row.getString(2));
				}
				return released;
			}
		}
	}

	@Override
	boolean release(PreparedStatement statement) throws SQLException {
		try (ResultSet row = statement.executeQuery()) {
			return row.next();
		}
	}

	@Override
	boolean replace(PreparedStatement statement, int index, LockRecord before, LockRecord next) throws SQLException {
		statement.setBoolean(index, next.grantsSince(before));
		statement.setString(index + 1,
				next.reservedSince(before).stream().map(MailboxAddress::value).collect(Collectors.joining(",")));
		return release(statement);
	}

	@Override
	boolean isAsciiOnly() {
		return this.asciiOnly;
	}

	@Override
	String addMembers() {
		return "ALTER TABLE " + this.table + " ADD COLUMN members TEXT COLLATE \"C\" NOT NULL DEFAULT ''";
	}

	@Override
	String widenQueue() {
		return "ALTER COLUMN waiting TYPE VARCHAR(" + WaitingQueue.FULL + ") COLLATE \"C\"";
	}

	@Override
	public boolean notifies() {
		return this.notifies;
	}

	@Override
	public @Nullable String channel(MailboxAddress mailbox) {
		return this.notifies ? PostgreSqlLockSql.CHANNEL_PREFIX + mailbox.value() : null;
	}

	@Override
	public boolean notify(Connection connection, String channel, String payload) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
			statement.setString(1, channel);
			statement.setString(2, payload);
			return statement.execute();
		}
	}

	@Override
	public int renewalsAtOnce() {
		return RENEWALS_AT_ONCE;
	}

	@Override
	public void renew(Connection connection, List<LeaseUpdate> due, BiConsumer<Holding, RenewResult> answers)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.renewMany)) {
			statement.setArray(1, array(connection, "text", due.stream().map(LeaseUpdate::key)));
			statement.setArray(2, array(connection, "text", due.stream().map(LeaseUpdate::owner)));
			statement.setArray(3, array(connection, "bigint", due.stream().map(LeaseUpdate::micros)));
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					answers.accept(due.get(row.getInt(1) - 1).holding(),
							row.getBoolean(2) ? RenewResult.RENEWED : RenewResult.REFUSED);
				}
			}
		}
	}

	private static Array array(Connection connection, String type, Stream<?> elements) throws SQLException {
		return connection.createArrayOf(type, elements.toArray());
	}

	@Override
	public StoreFacts facts(Connection connection) throws SQLException {
		return DatabaseFacts.ofPostgreSql(connection);
	}

	@Override
	void verify(Connection connection, LockTable table) throws SQLException {
		table.ask(connection, FOREIGN_COLLATION, (row) -> {
			throw table.wrongCollation("lock_key", row.getString(1),
					"which changes with the operating system: the index may then miss a lock, which is granted twice",
					"ALTER COLUMN lock_key TYPE VARCHAR(512) COLLATE \"C\"");
		});
		table.ask(connection, UNLOGGED, (row) -> {
			throw table.refusal(
					"The lock table '%s' is UNLOGGED: a crash of PostgreSQL empties it, and all locks are granted a second time."
						.formatted(table.name()),
					"SET LOGGED");
		});
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT current_setting('synchronous_commit')")) {
			boolean durable = !(row.next() && "off".equals(row.getString(1)));
			if (this.quarantine != null) {
				this.quarantine.verify(connection, durable);
			}
			else if (!durable) {
				logger.warn("synchronous_commit is off on the lock connections: "
						+ "a crash of PostgreSQL may give away a lock that is held. Switch it on for the lock's user");
			}
		}
	}

}
