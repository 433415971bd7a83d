package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

import io.dlock.store.LockRecord;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;

/**
 * The statements of PostgreSQL that grant locks, each with a look at the history of the
 * server. The note is a row of the lock table with a key that no lock has, without an
 * owner: the era in which it was written in {@code holder}, the end of the quarantine in
 * µs of the server's clock in {@code token}, and the longest lease in µs that any process
 * has named in {@code renewals}.
 * <p>
 * An era is a run of the server and its timeline. A run takes writes on one timeline
 * only: it begins as a primary, or is promoted once. Within an era the server forgets
 * nothing, so that a note with the current era was written by this very history, and its
 * quarantine is over for good once it is over: the snapshot of a statement is enough to
 * see that. docs/failover.md has the proof.
 */
final class PostgreSqlQuarantine {

	private static final String CONFLICT = "40001";

	/**
	 * The era of the primary, or {@code NULL} on a standby. The timeline is taken from
	 * the current position of the log: {@code pg_control_checkpoint()} names that of the
	 * last checkpoint, which may be the former one.
	 */
	private static final String ERA = """
			(SELECT CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' '
			      || (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint END AS id,
			    %3$s AS clock) era
			""";

	/**
	 * The rest of the quarantine in µs; negative if the note is missing, of another era,
	 * or of a shorter lease, or if the clock was set back since its end was set.
	 */
	private static final String LOOK = """
			SELECT CASE WHEN n.holder = era.id AND n.renewals >= %2$s AND n.token <= era.clock + n.renewals
			    THEN greatest(n.token - era.clock, 0) ELSE -1 END AS rest
			  FROM""" + ERA + "  LEFT JOIN %1$s n ON n.lock_key = '!quarantine'";

	/**
	 * Decides on the locked row, so that one of several sessions begins the quarantine.
	 */
	private static final String NOTE = """
			INSERT INTO %1$s AS n (lock_key, owner, token, acquired_at, lease_until, renewals, holder, reason, waiting)
			SELECT '!quarantine', '', clock + %2$s, clock_timestamp(), '9999-01-01 00:00:00Z', %2$s, id, 'failover', ''
			FROM""" + ERA + """
			ON CONFLICT (lock_key) DO UPDATE SET
			  token = CASE WHEN n.holder = EXCLUDED.holder AND n.token <= %3$s THEN n.token
			    ELSE %3$s + greatest(CASE n.holder WHEN EXCLUDED.holder THEN n.renewals END, %2$s) END,
			  renewals = greatest(CASE n.holder WHEN EXCLUDED.holder THEN n.renewals END, %2$s),
			  acquired_at = EXCLUDED.acquired_at,
			  holder = EXCLUDED.holder
			WHERE n.holder <> EXCLUDED.holder OR n.renewals < %2$s OR n.token > %3$s + n.renewals
			""";

	private final String look;

	private final String note;

	private final String acquire;

	private final String acquireMany;

	private final String replace;

	private final String insert;

	private final String read;

	PostgreSqlQuarantine(String table, boolean notifies, Quarantine quarantine) {
		long longest = LockRecord.micros(quarantine.longestLease());
		this.look = LOOK.formatted(table, longest, PostgreSqlLockSql.NOW_MICROS);
		this.note = NOTE.formatted(table, longest, PostgreSqlLockSql.NOW_MICROS);
		this.acquire = answering("token", ifOver("note", PostgreSqlLockSql.of(LockStatement.ACQUIRE, table, notifies)));
		this.acquireMany = answering("token, lock_key",
				PostgreSqlLockSql.acquireMany(table).replace(" ORDER BY", ", note WHERE rest = 0 ORDER BY"));
		String note = "(" + this.look + ") note";
		this.insert = ifOver(note, PostgreSqlLockSql.of(LockStatement.INSERT, table, notifies));
		this.replace = PostgreSqlLockSql.of(LockStatement.REPLACE, table, notifies)
			.replace("WHERE lock_key", "WHERE (SELECT rest FROM %s) = 0 AND lock_key".formatted(note));
		this.read = PostgreSqlLockSql.of(LockStatement.RECORD, table, notifies)
			.replace("WITH held", "WITH note AS (%s), held".formatted(this.look))
			.replace("renewals\nFROM (VALUES (1)) one", "renewals, rest\nFROM note");
	}

	private static String ifOver(String note, String insert) {
		return insert.replaceFirst("(?s)VALUES \\((.*?)\\)\nON",
				"SELECT $1 FROM %s WHERE rest = 0\nON".formatted(note));
	}

	/**
	 * Answer what was granted, or else the rest of the quarantine in one more row.
	 */
	private String answering(String columns, String grant) {
		String none = columns.replaceAll("\\w+", "NULL");
		return """
				WITH note AS (%s), granted AS (%s)
				SELECT %s, 0 AS rest FROM granted UNION ALL SELECT %s, rest FROM note WHERE rest <> 0
				""".formatted(this.look, grant, columns, none);
	}

	/**
	 * A statement that grants nothing in a quarantine, or reads the record to grant.
	 */
	String sql(LockStatement statement) {
		return switch (statement) {
			case ACQUIRE -> this.acquire;
			case REPLACE -> this.replace;
			case INSERT -> this.insert;
			case RECORD -> this.read;
			default -> throw new IllegalArgumentException(statement + " grants nothing");
		};
	}

	String acquireMany() {
		return this.acquireMany;
	}

	/**
	 * Check that an answer is not that of a server in quarantine. If the note is not one
	 * of this era, write it and have the call repeated.
	 */
	void check(Connection connection, ResultSet row) throws SQLException {
		long rest = row.getLong("rest");
		if (rest > 0) {
			throw new StoreQuarantinedException(Duration.of(rest, ChronoUnit.MICROS));
		}
		if (rest < 0) {
			try (Statement statement = connection.createStatement()) {
				statement.executeUpdate(this.note);
			}
			throw new SQLTransientException("The history of the database is not the noted one", CONFLICT);
		}
	}

	/**
	 * Check that the server tells its history, and answers nothing that a crash of a
	 * session may undo.
	 */
	void verify(Connection connection, boolean durable) throws SQLException {
		if (!durable) {
			throw new StoreMisconfiguredException(
					"The quarantine of locks after a failover is on, but synchronous_commit is off on the lock connections: PostgreSQL may forget a lock without a restart.",
					"Switch synchronous_commit on for the user of the locks.", null);
		}
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(this.look)) {
			row.next();
		}
		catch (SQLException ex) {
			if (!SqlErrors.isPermanent(ex)) {
				throw ex;
			}
			throw new StoreMisconfiguredException(
					"The quarantine of locks after a failover is on, but the database does not tell the user of the locks its history (%s)."
						.formatted(ex.getMessage()),
					"Grant the user EXECUTE on pg_walfile_name, pg_current_wal_lsn and pg_postmaster_start_time, or set dlock.failover.quarantine=off.",
					ex);
		}
	}

}
