package io.dlock.store.jdbc.dialect;

import io.dlock.store.WaitingQueue;

/**
 * The statements for MySQL and MariaDB. In all texts {@code %1$s} is the table.
 */
final class MySqlLockSql {

	/** Each batch of so many renewals takes three round trips. */
	static final int RENEWALS_AT_ONCE = 2000;

	private static final String NOW_MICROS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

	/** Remembers for {@link #readBackMany} when a renewal began. */
	static final String RENEWAL_BEGINS = "SET @dlock_renewal = " + NOW_MICROS;

	private static final String LEASE_END = "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND";

	private static final String GRANTABLE = "((lease_until <= UTC_TIMESTAMP(6) AND (waiting = '' OR LOCATE(?, waiting) = 1)) OR owner IN ('', ?) "
			+ "OR (owner = ? AND waiting = ''))";

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

	/**
	 * A proxy that sends reads to replicas sends this to the primary, because of its end.
	 * It locks no row all the same, because the rows of an inner query are only read.
	 */
	private static final String ON_PRIMARY = "SELECT * FROM (%s LIMIT " + RENEWALS_AT_ONCE + ") held FOR UPDATE";

	/** The columns of a lock that people see. */
	private static final String SHOWN = """
			lock_key, holder, reason, token, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', acquired_at) AS since_micros,
			  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', lease_until) AS until_micros,
			  TIMESTAMPDIFF(MICROSECOND, acquired_at, UTC_TIMESTAMP(6)) AS age_micros, owner
			""";

	/**
	 * The rows of the inner query have no text without a limit: MariaDB would write them
	 * to a file.
	 */
	private static final String HOLDER = ON_PRIMARY.formatted("""
			SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), lease_until) AS remaining_micros,
			  CHAR_LENGTH(waiting) AS queue_length, LOCATE(?, waiting) AS queue_position,
			""" + SHOWN + " FROM %1$s WHERE lock_key = ?");

	private static final String RENEW = """
			UPDATE %1$s SET lease_until = GREATEST(lease_until, %3$s), renewals = renewals + 1
			WHERE lock_key = ? AND owner = ? AND lease_until > UTC_TIMESTAMP(6)
			""";

	/**
	 * The leases as rows, from one bound value. Without collations of its own the join
	 * would fold the keys and find no index.
	 */
	private static final String DUE = """
			JSON_TABLE(CONVERT(? USING utf8mb4), '$[*]' COLUMNS (position FOR ORDINALITY,
			  lock_key VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]',
			  owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin PATH '$[1]', lease BIGINT PATH '$[2]')) due
			""";

	/**
	 * Skips rows that other sessions have locked, and locks the others in the given
	 * order. The limit prevents the database from merging the inner part with the outer
	 * one. The optimizer would read the whole of a small table, and wait for each row.
	 */
	private static final String RENEW_MANY = """
			UPDATE (
			  SELECT f.lock_key, due.lease FROM %2$s STRAIGHT_JOIN %1$s f FORCE INDEX (PRIMARY)
			  ON f.lock_key = due.lock_key AND f.owner = due.owner LIMIT %3$s FOR UPDATE SKIP LOCKED
			) free STRAIGHT_JOIN %1$s l FORCE INDEX (PRIMARY) ON l.lock_key = free.lock_key
			SET l.lease_until = GREATEST(l.lease_until, UTC_TIMESTAMP(6) + INTERVAL free.lease MICROSECOND),
			  l.renewals = l.renewals + 1
			WHERE l.lease_until > UTC_TIMESTAMP(6)
			""";

	/**
	 * A lease that is held and ends as late as after a renewal since this one began is
	 * renewed, by this statement or by another one.
	 */
	private static final String READ_BACK_MANY = ON_PRIMARY.formatted(
			"""
					SELECT due.position, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', l.lease_until) >= @dlock_renewal + due.lease AS lasts
					FROM %2$s STRAIGHT_JOIN %1$s l
					ON l.lock_key = due.lock_key AND l.owner = due.owner AND l.lease_until > UTC_TIMESTAMP(6)
					""");

	private static final String PASS_ON = """
			UPDATE %1$s SET
			  owner = IF(waiting = '', '', CONCAT('>', LEFT(waiting, 16))),
			  lease_until = UTC_TIMESTAMP(6) + INTERVAL IF(waiting = '', 0, LEFT(waiting, 4) * 1000) MICROSECOND,
			  waiting = SUBSTR(waiting, 18)
			WHERE lock_key = ? AND""";

	private static final String LASTS = " AND lease_until > UTC_TIMESTAMP(6)";

	private static final String RELEASE = PASS_ON + " owner = ?" + LASTS;

	private static final String PASS_EXPIRED = PASS_ON + " lease_until <= UTC_TIMESTAMP(6) AND waiting <> ''";

	private static final String TAKEN = " lease_until > UTC_TIMESTAMP(6) AND owner <> '' AND owner NOT LIKE '>%%'";

	private static final String FORCE_RELEASE = PASS_ON + " token = ? AND owner <> '+' AND" + TAKEN;

	private static final String KEEP = """
			UPDATE %1$s SET lease_until = %3$s, owner = CONCAT('~', SUBSTR(owner, 2))
			WHERE lock_key = ? AND owner = ? AND lease_until > UTC_TIMESTAMP(6)
			""";

	private static final String QUEUE = """
			UPDATE %1$s SET waiting = CONCAT(waiting, ?) WHERE lock_key = ? AND lease_until > UTC_TIMESTAMP(6)
			  AND CHAR_LENGTH(waiting) < %5$s AND LOCATE(?, waiting) = 0
			""";

	private static final String LEAVE = """
			UPDATE %1$s SET waiting = REPLACE(REPLACE(waiting, ?, ''), ?, '') WHERE lock_key = ? AND owner <> '+'
			""";

	private static final String LIST = "SELECT " + SHOWN + " FROM %1$s WHERE" + TAKEN;

	private static final String FIND = LIST + " AND lock_key = ?";

	private static final String AVAILABLE = """
			SELECT lock_key, owner FROM %1$s WHERE (owner LIKE ? OR lease_until <= UTC_TIMESTAMP(6)) AND lock_key IN""";

	private static final String AVAILABLE_TO_MEMBER = """
			SELECT lock_key, owner FROM %1$s
			WHERE (owner LIKE ? OR (owner = '+' AND LOCATE(?, members) > 0) OR lease_until <= UTC_TIMESTAMP(6)) AND lock_key IN""";

	private static final String SWEEP = """
			DELETE l FROM (
			  SELECT lock_key FROM %1$s WHERE lease_until < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND token < %2$s
			  LIMIT %6$s FOR UPDATE SKIP LOCKED
			) free STRAIGHT_JOIN %1$s l FORCE INDEX (PRIMARY) ON l.lock_key = free.lock_key
			""";

	private static final String LOCK_ROW = """
			SELECT 1 FROM %1$s WHERE lock_key = ? AND owner = ? AND lease_until > UTC_TIMESTAMP(6) FOR UPDATE
			""";

	private static final String UNTIL_MICROS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', lease_until)";

	private static final String TIME = "CAST('1970-01-01' AS DATETIME(6)) + INTERVAL ? MICROSECOND";

	private static final String RECORD = ON_PRIMARY.formatted(
			"""
					SELECT %2$s AS now_micros, owner, %7$s AS until_micros, token,
					  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', acquired_at) AS since_micros, holder, reason, waiting, members, renewals
					FROM (SELECT 1) one LEFT JOIN %1$s ON lock_key = ?
					""");

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
			SELECT %2$s, members FROM %1$s WHERE lock_key = ? AND owner = '+' FOR UPDATE
			""";

	private MySqlLockSql() {
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
		return template.formatted(table, NOW_MICROS, LEASE_END, GRANTABLE, WaitingQueue.FULL, LockStatement.SWEEP_BATCH,
				UNTIL_MICROS, TIME);
	}

	/**
	 * The statement that renews many leases.
	 * @param table the lock table, a validated identifier
	 * @return the SQL; binds the leases as JSON
	 */
	static String renewMany(String table) {
		return RENEW_MANY.formatted(table, DUE, RENEWALS_AT_ONCE);
	}

	/**
	 * The statement that asks for the results of {@link #renewMany}.
	 * @param table the lock table, a validated identifier
	 * @return the SQL; binds the leases as JSON, answers the position of a lease that is
	 * held and whether it is renewed
	 */
	static String readBackMany(String table) {
		return READ_BACK_MANY.formatted(table, DUE);
	}

}
