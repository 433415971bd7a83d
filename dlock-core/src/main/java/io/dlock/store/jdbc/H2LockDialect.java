package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.jdbc.JdbcRenewal.Answers;
import io.dlock.store.jdbc.JdbcRenewal.Due;

/**
 * H2, for development and tests. {@code MERGE … USING} decides on the locked row; two
 * first-ever acquires of a key may collide on the primary key, which is retried. (The
 * short form {@code MERGE … KEY} would steal the lock.)
 */
final class H2LockDialect extends JdbcLockDialect {

	private static final String NOW = "CURRENT_TIMESTAMP(6)";

	/** With {@code IGNORECASE} a {@code VARCHAR} is compared without regard to case. */
	private static final String TEXT = "VARCHAR_CASESENSITIVE";

	private static final String NOW_MICROS = "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";

	private static final String ACQUIRE = """
			SELECT token FROM FINAL TABLE (
			  MERGE INTO %1$s l
			  USING (VALUES (CAST(? AS %4$s), CAST(? AS %4$s), CAST(? AS BIGINT), CAST(? AS %4$s), CAST(? AS %4$s),
			      CAST(? AS %4$s), CAST(? AS %4$s), CAST(? AS %4$s)))
			    a (lock_key, owner, lease, holder, reason, entry, reservation, releasing)
			  ON l.lock_key = a.lock_key
			  WHEN MATCHED AND (l.lease_until <= %2$s OR l.owner IN ('', a.owner, a.reservation)
			      OR (l.owner = a.releasing AND l.waiting = '')) THEN UPDATE SET
			    token = CASE WHEN l.owner = a.owner THEN l.token ELSE GREATEST(l.token + 1, %3$s) END,
			    acquired_at = CASE WHEN l.owner = a.owner THEN l.acquired_at ELSE %2$s END,
			    owner = a.owner,
			    lease_until = GREATEST(CASE WHEN l.owner = a.owner THEN l.lease_until ELSE %2$s END,
			      DATEADD('MICROSECOND', a.lease, %2$s)),
			    renewals = 0,
			    holder = a.holder,
			    reason = a.reason,
			    waiting = REPLACE(l.waiting, a.entry, '')
			  WHEN NOT MATCHED THEN
			    INSERT (lock_key, owner, token, acquired_at, lease_until, renewals, holder, reason, waiting)
			    VALUES (a.lock_key, a.owner, %3$s, %2$s, DATEADD('MICROSECOND', a.lease, %2$s), 0, a.holder, a.reason, ''))
			""";

	private static final String HOLDER = """
			SELECT DATEDIFF('MICROSECOND', %2$s, lease_until), owner, holder, waiting FROM %1$s WHERE lock_key = ?
			""";

	private static final String KEY_COLUMN = """
			SELECT DATA_TYPE, COLLATION_NAME, TABLE_NAME, COUNT(*) OVER () FROM INFORMATION_SCHEMA.COLUMNS
			WHERE LOWER(TABLE_SCHEMA) = LOWER(COALESCE(?, SCHEMA())) AND LOWER(TABLE_NAME) = LOWER(?)
			  AND LOWER(COLUMN_NAME) = 'lock_key'
			""";

	private final String acquire;

	private final String holder;

	H2LockDialect(String table) {
		super(new Statements(
				"""
						UPDATE %s SET lease_until = GREATEST(lease_until, DATEADD('MICROSECOND', ?, %2$s)), renewals = renewals + 1
						WHERE lock_key = ? AND owner = ? AND lease_until > %2$s
						"""
					.formatted(table, NOW),
				"""
						UPDATE %s SET
						  owner = CASE waiting WHEN '' THEN '' ELSE '>' || SUBSTRING(waiting, 1, 16) END,
						  lease_until = DATEADD('MILLISECOND', CASE waiting WHEN '' THEN 0 ELSE CAST(SUBSTRING(waiting, 1, 4) AS INT) END, %s),
						  waiting = SUBSTRING(waiting, 18)
						WHERE lock_key = ? AND owner = ?
						"""
					.formatted(table, NOW),
				Statements.keeping(table, "DATEADD('MICROSECOND', ?, " + NOW + ")", NOW), """
						UPDATE %s SET waiting = waiting || ? WHERE lock_key = ? AND lease_until > %s
						  AND CHAR_LENGTH(waiting) < %d AND LOCATE(?, waiting) = 0
						""".formatted(table, NOW, Statements.FULL_QUEUE), """
						UPDATE %s SET waiting = REPLACE(waiting, ?, '') WHERE lock_key = ?
						""".formatted(table),
				"""
						SELECT lock_key, holder, reason, token, CAST(EXTRACT(EPOCH FROM acquired_at) * 1000000 AS BIGINT) AS since_micros,
						  CAST(EXTRACT(EPOCH FROM lease_until) * 1000000 AS BIGINT) AS until_micros,
						  DATEDIFF('MICROSECOND', acquired_at, %2$s) AS age_micros, owner LIKE '~%%' AS kept
						FROM %1$s WHERE lease_until > %2$s AND owner <> '' AND owner NOT LIKE '>%%'
						"""
					.formatted(table, NOW),
				"""
						SELECT lock_key FROM %s WHERE (owner = ? OR lease_until <= %s) AND lock_key IN (%s)
						""".formatted(table, NOW, Statements.KEYS), """
						DELETE FROM %s WHERE lease_until < DATEADD('MICROSECOND', -?, %s) FETCH FIRST %d ROWS ONLY
						""".formatted(table, NOW, Statements.SWEEP_BATCH), """
						SELECT 1 FROM %s WHERE lock_key = ? AND owner = ? AND lease_until > %s FOR UPDATE
						""".formatted(table, NOW)));
		this.acquire = ACQUIRE.formatted(table, NOW, NOW_MICROS, TEXT);
		this.holder = HOLDER.formatted(table, NOW);
	}

	@Override
	String sessionSetup(Duration commandTimeout) {
		long millis = serverLimit(commandTimeout).toMillis();
		return "SET LOCK_TIMEOUT %d; SET QUERY_TIMEOUT %d".formatted(millis, millis);
	}

	@Override
	Attempt attempt(Connection connection, AcquireCommand command) throws SQLException {
		String key = StorageKey.of(command.key());
		try (PreparedStatement statement = connection.prepareStatement(this.acquire)) {
			Parameters.bind(statement, key, command, false);
			statement.setString(6, Parameters.entry(command.mailbox()));
			statement.setString(7, Parameters.reservation(command));
			statement.setString(8, Parameters.releasing(command));
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

	/**
	 * A timeout would stay on the caller's connection; H2 waits two seconds for a row by
	 * default.
	 */
	@Override
	void limit(PreparedStatement statement, Duration timeout) {
	}

	/**
	 * In this process a statement is no round trip.
	 */
	@Override
	int renewalsAtOnce() {
		return 1;
	}

	@Override
	StoreFacts facts(Connection connection) throws SQLException {
		return JdbcFacts.ofH2(connection);
	}

	@Override
	void verify(Connection connection, LockTable table) throws SQLException {
		DatabaseMetaData metaData = connection.getMetaData();
		table.ask(connection, KEY_COLUMN, (row) -> {
			if (row.getInt(4) > 1 && !row.getString(3).equals(stored(metaData, table.simpleName()))) {
				return;
			}
			boolean ignoresCase = row.getString(1).equals("VARCHAR_IGNORECASE");
			if (ignoresCase || !row.getString(2).equals("OFF")) {
				throw table.wrongCollation("lock_key", row.getString(ignoresCase ? 1 : 2), MIXES_KEYS, null);
			}
		});
	}

	private static String stored(DatabaseMetaData metaData, String identifier) throws SQLException {
		if (metaData.storesUpperCaseIdentifiers()) {
			return identifier.toUpperCase(Locale.ROOT);
		}
		return metaData.storesLowerCaseIdentifiers() ? identifier.toLowerCase(Locale.ROOT) : identifier;
	}

	@Override
	void renew(Connection connection, List<Due> due, Answers answers) throws SQLException {
		for (Due lease : due) {
			answers.answer(lease.holding(), renew(connection, lease) ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
	}

}
