package io.dlock.store.jdbc.dialect;

import io.dlock.store.WaitingQueue;

/**
 * The statements for H2. {@code MERGE … USING} decides on the locked row; the short form
 * {@code MERGE … KEY} would steal the lock. In all texts {@code %1$s} is the table and
 * {@code %2$s} the time.
 */
final class H2LockSql {

	private static final String NOW = "CURRENT_TIMESTAMP(6)";

	private static final String NOW_MICROS = "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";

	/** With {@code IGNORECASE} a {@code VARCHAR} is compared without regard to case. */
	private static final String TEXT = "VARCHAR_CASESENSITIVE";

	private static final String ACQUIRE = """
			SELECT token FROM FINAL TABLE (
			  MERGE INTO %1$s l
			  USING (VALUES (CAST(? AS %4$s), CAST(? AS %4$s), CAST(? AS BIGINT), CAST(? AS %4$s), CAST(? AS %4$s),
			      CAST(? AS %4$s), CAST(? AS %4$s), CAST(? AS %4$s), CAST(? AS %4$s)))
			    a (lock_key, owner, lease, holder, reason, entry, head, reservation, releasing)
			  ON l.lock_key = a.lock_key
			  WHEN MATCHED AND ((l.lease_until <= %2$s AND (l.waiting = '' OR LOCATE(a.head, l.waiting) = 1))
			      OR l.owner IN ('', a.owner, a.reservation)
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

	/** The columns of a lock that people see. */
	private static final String SHOWN = """
			lock_key, holder, reason, token, CAST(EXTRACT(EPOCH FROM acquired_at) * 1000000 AS BIGINT) AS since_micros,
			  CAST(EXTRACT(EPOCH FROM lease_until) * 1000000 AS BIGINT) AS until_micros,
			  DATEDIFF('MICROSECOND', acquired_at, %2$s) AS age_micros, owner
			""";

	private static final String HOLDER = """
			SELECT DATEDIFF('MICROSECOND', %2$s, lease_until) AS remaining_micros,
			  CHAR_LENGTH(waiting) AS queue_length, LOCATE(?, waiting) AS queue_position,
			""" + SHOWN + " FROM %1$s WHERE lock_key = ?";

	private static final String RENEW = """
			UPDATE %1$s SET lease_until = GREATEST(lease_until, DATEADD('MICROSECOND', ?, %2$s)), renewals = renewals + 1
			WHERE lock_key = ? AND owner = ? AND lease_until > %2$s
			""";

	private static final String PASS_ON = """
			UPDATE %1$s SET
			  owner = CASE waiting WHEN '' THEN '' ELSE '>' || SUBSTRING(waiting, 1, 16) END,
			  lease_until = DATEADD('MILLISECOND', CASE waiting WHEN '' THEN 0 ELSE CAST(SUBSTRING(waiting, 1, 4) AS INT) END, %2$s),
			  waiting = SUBSTRING(waiting, 18)
			WHERE lock_key = ? AND""";

	private static final String LASTS = " AND lease_until > %2$s";

	private static final String RELEASE = PASS_ON + " owner = ?" + LASTS;

	private static final String PASS_EXPIRED = PASS_ON + " lease_until <= %2$s AND waiting <> ''";

	private static final String TAKEN = " lease_until > %2$s AND owner <> '' AND owner NOT LIKE '>%%'";

	private static final String FORCE_RELEASE = PASS_ON + " token = ? AND owner <> '+' AND" + TAKEN;

	private static final String KEEP = """
			UPDATE %1$s SET lease_until = DATEADD('MICROSECOND', ?, %2$s), owner = CONCAT('~', SUBSTR(owner, 2))
			WHERE lock_key = ? AND owner = ? AND lease_until > %2$s
			""";

	private static final String QUEUE = """
			UPDATE %1$s SET waiting = waiting || ? WHERE lock_key = ? AND lease_until > %2$s
			  AND CHAR_LENGTH(waiting) < %5$s AND LOCATE(?, waiting) = 0
			""";

	private static final String LEAVE = """
			UPDATE %1$s SET waiting = REPLACE(REPLACE(waiting, ?, ''), ?, '') WHERE lock_key = ? AND owner <> '+'
			""";

	private static final String LIST = "SELECT " + SHOWN + " FROM %1$s WHERE" + TAKEN;

	private static final String FIND = LIST + " AND lock_key = ?";

	private static final String AVAILABLE = """
			SELECT lock_key, owner FROM %1$s WHERE (owner LIKE ? OR lease_until <= %2$s) AND lock_key IN""";

	private static final String AVAILABLE_TO_MEMBER = """
			SELECT lock_key, owner FROM %1$s
			WHERE (owner LIKE ? OR (owner = '+' AND LOCATE(?, members) > 0) OR lease_until <= %2$s) AND lock_key IN""";

	private static final String SWEEP = """
			DELETE FROM %1$s WHERE lease_until < DATEADD('MICROSECOND', -?, %2$s) AND token < %3$s
			FETCH FIRST %6$s ROWS ONLY
			""";

	private static final String LOCK_ROW = """
			SELECT 1 FROM %1$s WHERE lock_key = ? AND owner = ? AND lease_until > %2$s FOR UPDATE
			""";

	private static final String UNTIL_MICROS = "CAST(EXTRACT(EPOCH FROM lease_until) * 1000000 AS BIGINT)";

	private static final String TIME = "DATEADD('MICROSECOND', ?, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00')";

	private static final String RECORD = """
			SELECT %3$s AS now_micros, owner, %7$s AS until_micros, token,
			  CAST(EXTRACT(EPOCH FROM acquired_at) * 1000000 AS BIGINT) AS since_micros, holder, reason, waiting, members,
			  renewals
			FROM (VALUES (1)) one LEFT JOIN %1$s ON lock_key = ?
			""";

	private static final String REPLACE = """
			UPDATE %1$s SET owner = ?, lease_until = %8$s, token = ?, acquired_at = %8$s, holder = ?, reason = ?,
			  waiting = ?, members = ?, renewals = renewals + 1
			WHERE lock_key = ? AND owner = ? AND %7$s = ? AND token = ? AND waiting = ? AND renewals = ?
			""";

	private static final String INSERT = """
			INSERT INTO %1$s (owner, lease_until, token, acquired_at, holder, reason, waiting, members, lock_key, renewals)
			VALUES (?, %8$s, ?, %8$s, ?, ?, ?, ?, ?, 0)
			""";

	private static final String LOCK_MEMBERS_ROW = """
			SELECT %3$s, members FROM %1$s WHERE lock_key = ? AND owner = '+' FOR UPDATE
			""";

	private H2LockSql() {
	}

	/**
	 * The text of a statement.
	 * @param table the lock table, a validated identifier
	 * @return the SQL
	 */
	static String of(LockStatement statement, String table) {
		String template = switch (statement) {
			case ACQUIRE -> ACQUIRE;
			case HOLDER -> HOLDER;
			case RENEW -> RENEW;
			case PASS_EXPIRED -> PASS_EXPIRED;
			case RELEASE -> RELEASE;
			case FORCE_RELEASE -> FORCE_RELEASE;
			case KEEP -> KEEP;
			case QUEUE -> QUEUE;
			case LEAVE -> LEAVE;
			case LIST -> LIST;
			case FIND -> FIND;
			case AVAILABLE -> AVAILABLE;
			case AVAILABLE_TO_MEMBER -> AVAILABLE_TO_MEMBER;
			case SWEEP -> SWEEP;
			case LOCK_ROW -> LOCK_ROW;
			case RECORD -> RECORD;
			case REPLACE -> REPLACE;
			case INSERT -> INSERT;
			case LOCK_MEMBERS_ROW -> LOCK_MEMBERS_ROW;
		};
		return template.formatted(table, NOW, NOW_MICROS, TEXT, WaitingQueue.FULL, LockStatement.SWEEP_BATCH,
				UNTIL_MICROS, TIME);
	}

}
