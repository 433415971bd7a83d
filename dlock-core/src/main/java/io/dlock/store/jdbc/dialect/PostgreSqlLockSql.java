package io.dlock.store.jdbc.dialect;

import io.dlock.store.WaitingQueue;

/**
 * The statements for PostgreSQL. The clock is {@code clock_timestamp()} throughout:
 * {@code now()} stands still in a transaction, and a lease that was computed before a
 * wait for the row would be born expired. In all texts {@code %1$s} is the table.
 */
final class PostgreSqlLockSql {

	/** A release notifies the channel of this prefix and the address of the process. */
	static final String CHANNEL_PREFIX = "dlock_";

	static final String NOW_MICROS = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

	private static final String LEASE_END = "clock_timestamp() + ? * interval '1 microsecond'";

	/**
	 * The statement does not wait for the disk. A release or a place in the queue that a
	 * crash of the server undoes costs the rest of a lease; a lock must not be undone.
	 */
	private static final String NOT_DURABLE = " AND set_config('synchronous_commit', 'off', true) = 'off'";

	private static final String INTO = """
			INSERT INTO %1$s AS l (lock_key, owner, token, acquired_at, lease_until, renewals, holder, reason, waiting)
			""";

	/**
	 * The condition and the assignments are evaluated on the locked row, so that exactly
	 * one of several contenders wins.
	 */
	private static final String UNLESS_HELD = """
			ON CONFLICT (lock_key) DO UPDATE SET
			  token = CASE WHEN l.owner = EXCLUDED.owner THEN l.token ELSE greatest(l.token + 1, %2$s) END,
			  acquired_at = CASE WHEN l.owner = EXCLUDED.owner THEN l.acquired_at ELSE clock_timestamp() END,
			  owner = EXCLUDED.owner,
			  lease_until = greatest(CASE WHEN l.owner = EXCLUDED.owner THEN l.lease_until END, %3$s),
			  renewals = 0,
			  holder = EXCLUDED.holder,
			  reason = EXCLUDED.reason,
			  waiting = replace(l.waiting, ?, '')
			WHERE (l.lease_until <= clock_timestamp() AND (l.waiting = '' OR strpos(l.waiting, ?) = 1))
			  OR l.owner IN ('', EXCLUDED.owner, ?) OR (l.owner = ? AND l.waiting = '')
			RETURNING token
			""";

	private static final String ACQUIRE = INTO + """
			VALUES (?, ?, %2$s, clock_timestamp(), %3$s, 0, ?, ?, '')
			""" + UNLESS_HELD;

	/**
	 * The rows are locked in the order of the arrays, which is that of the keys, and
	 * until the statement ends.
	 */
	private static final String ACQUIRE_MANY = INTO + """
			SELECT lock_key, owner, %2$s, clock_timestamp(), %3$s, 0, ?, ?, ''
			FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS asked (lock_key, owner, position) ORDER BY position
			""" + UNLESS_HELD + ", lock_key";

	/** The columns of a lock that people see. */
	private static final String SHOWN = """
			lock_key, holder, reason, token, (extract(epoch FROM acquired_at) * 1000000)::bigint AS since_micros,
			  (extract(epoch FROM lease_until) * 1000000)::bigint AS until_micros,
			  (extract(epoch FROM clock_timestamp() - acquired_at) * 1000000)::bigint AS age_micros,
			  owner
			""";

	/**
	 * A proxy that sends reads to replicas sends a statement that ends with
	 * {@code FOR UPDATE} to the primary. It locks no row, because it reads none itself.
	 */
	private static final String HELD = "WITH held AS (SELECT * FROM %1$s WHERE lock_key = ?)\n";

	private static final String HOLDER = """
			WITH held AS (SELECT *, strpos(waiting, ?) AS queue_position FROM %1$s WHERE lock_key = ?)
			SELECT (extract(epoch FROM lease_until - clock_timestamp()) * 1000000)::bigint AS remaining_micros,
			  char_length(waiting) AS queue_length, queue_position,
			""" + SHOWN + " FROM held FOR UPDATE";

	private static final String RENEW = """
			UPDATE %1$s SET lease_until = greatest(lease_until, %3$s), renewals = renewals + 1
			WHERE lock_key = ? AND owner = ? AND lease_until > clock_timestamp()
			""";

	/**
	 * Skips rows that other sessions have locked, so that it neither waits nor meets a
	 * deadlock; the update then decides on the locked rows. A lease that it did not renew
	 * is refused if its owner does not hold it, and gets no answer otherwise.
	 */
	private static final String RENEW_MANY = """
			WITH due AS (
			  SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[]) WITH ORDINALITY AS due (lock_key, owner, lease, position)
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

	private static final String PASS = """
			UPDATE %1$s SET
			  owner = CASE waiting WHEN '' THEN '' ELSE '>' || substr(waiting, 1, 16) END,
			  lease_until = clock_timestamp() + CASE waiting WHEN '' THEN interval '0'
			    ELSE substr(waiting, 1, 4)::int * interval '1 millisecond' END,
			  waiting = substr(waiting, 18)
			""";

	private static final String PASS_ON = PASS + "WHERE lock_key = ? AND";

	private static final String NOTIFY = NOT_DURABLE + """

			RETURNING CASE owner WHEN '' THEN NULL ELSE\s""" + message("substr(owner, 2)") + " END\n";

	/**
	 * Locks the rows in the order of their keys before it changes one of them.
	 */
	private static final String RELEASE_MANY = """
			WITH held AS (
			  SELECT l.lock_key AS held_key
			  FROM unnest(?::text[], ?::text[]) AS due (lock_key, owner)
			    JOIN %1$s l ON l.lock_key = due.lock_key AND l.owner = due.owner AND l.lease_until > clock_timestamp()
			  ORDER BY l.lock_key FOR UPDATE OF l
			)
			""" + PASS + "FROM held WHERE lock_key = held_key" + NOTIFY + ", lock_key";

	private static final String LASTS = " AND lease_until > clock_timestamp()";

	private static final String RELEASE = PASS_ON + " owner = ?" + LASTS + NOTIFY;

	private static final String PASS_EXPIRED = PASS_ON + " lease_until <= clock_timestamp() AND waiting <> ''" + NOTIFY;

	private static final String TAKEN = " lease_until > clock_timestamp() AND owner <> '' AND owner NOT LIKE '>%%'";

	private static final String FORCE_RELEASE = PASS_ON + " token = ? AND owner <> '+' AND" + TAKEN + NOTIFY;

	private static final String KEEP = """
			UPDATE %1$s SET lease_until = %3$s, owner = CONCAT('~', SUBSTR(owner, 2))
			WHERE lock_key = ? AND owner = ? AND lease_until > clock_timestamp()
			""";

	private static final String QUEUE = """
			UPDATE %1$s SET waiting = waiting || ?
			WHERE lock_key = ? AND lease_until > clock_timestamp()
			  AND char_length(waiting) < %5$s AND strpos(waiting, ?) = 0""" + NOT_DURABLE;

	private static final String LEAVE = """
			UPDATE %1$s SET waiting = replace(replace(waiting, ?, ''), ?, '')
			WHERE lock_key = ? AND owner <> '+'""" + NOT_DURABLE;

	private static final String LIST = "SELECT " + SHOWN + " FROM %1$s WHERE" + TAKEN;

	private static final String FIND = LIST + " AND lock_key = ?";

	private static final String AVAILABLE = """
			SELECT lock_key, owner FROM %1$s WHERE (owner LIKE ? OR lease_until <= clock_timestamp()) AND lock_key IN""";

	private static final String AVAILABLE_TO_MEMBER = """
			SELECT lock_key, owner FROM %1$s
			WHERE (owner LIKE ? OR (owner = '+' AND strpos(members, ?) > 0) OR lease_until <= clock_timestamp())
			  AND lock_key IN""";

	private static final String SWEEP = """
			DELETE FROM %1$s WHERE lock_key IN (
			  SELECT lock_key FROM %1$s WHERE lease_until < clock_timestamp() - ? * interval '1 microsecond'
			    AND token < %2$s
			  LIMIT %6$s FOR UPDATE SKIP LOCKED)
			""";

	private static final String LOCK_ROW = """
			SELECT 1 FROM %1$s WHERE lock_key = ? AND owner = ? AND lease_until > clock_timestamp() FOR UPDATE
			""";

	private static final String UNTIL_MICROS = "(extract(epoch FROM lease_until) * 1000000)::bigint";

	private static final String TIME = "timestamptz 'epoch' + ? * interval '1 microsecond'";

	private static final String RECORD = HELD
			+ """
					SELECT %2$s AS now_micros, owner, %7$s AS until_micros, token,
					  (extract(epoch FROM acquired_at) * 1000000)::bigint AS since_micros, holder, reason, waiting, members, renewals
					FROM (VALUES (1)) one LEFT JOIN held ON TRUE FOR UPDATE
					""";

	/**
	 * Binds at last whether to wait for the disk, and the addresses to notify.
	 */
	private static final String REPLACE = """
			UPDATE %1$s SET owner = ?, lease_until = %8$s, token = ?, acquired_at = %8$s, holder = ?, reason = ?,
			  waiting = ?, members = ?, renewals = renewals + 1
			WHERE lock_key = ? AND owner = ? AND %7$s = ? AND token = ? AND waiting = ? AND renewals = ?
			  AND CASE WHEN ? THEN TRUE ELSE set_config('synchronous_commit', 'off', true) = 'off' END
			RETURNING (SELECT count(""" + message("address") + """
			) FROM unnest(string_to_array(?, ',')) address)
			""";

	private static final String INSERT = """
			INSERT INTO %1$s (owner, lease_until, token, acquired_at, holder, reason, waiting, members, lock_key, renewals)
			VALUES (?, %8$s, ?, %8$s, ?, ?, ?, ?, ?, 0)
			ON CONFLICT (lock_key) DO NOTHING
			""";

	private static final String LOCK_MEMBERS_ROW = """
			SELECT %2$s, members FROM %1$s WHERE lock_key = ? AND owner = '+' FOR UPDATE
			""";

	private PostgreSqlLockSql() {
	}

	/**
	 * The call that notifies an address. The text to a request names its address.
	 */
	private static String message(String address) {
		return """
				CASE substr(ADDRESS, 13, 1)
				  WHEN '.' THEN %9$s('%4$s' || substr(ADDRESS, 1, 12) || '0000', lock_key || ' ' || ADDRESS)::text
				  ELSE %9$s('%4$s' || ADDRESS, lock_key)::text END""".replace("ADDRESS", address);
	}

	/**
	 * The text of a statement.
	 * @param table the lock table, a validated identifier
	 * @param notifies whether a release notifies an address: NOTIFY takes a lock on the
	 * whole server
	 * @return the SQL
	 */
	static String of(LockStatement statement, String table, boolean notifies) {
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
		return format(template, table, notifies);
	}

	private static String format(String template, String table, boolean notifies) {
		return template.formatted(table, NOW_MICROS, LEASE_END, CHANNEL_PREFIX, WaitingQueue.FULL,
				LockStatement.SWEEP_BATCH, UNTIL_MICROS, TIME, notifies ? "pg_notify" : "concat");
	}

	/**
	 * The statement that acquires several keys.
	 * @param table the lock table, a validated identifier
	 * @return the SQL; binds lease µs, holder, reason, arrays of keys and owners in the
	 * order of the keys, lease µs, and then as {@link LockStatement#ACQUIRE}; answers
	 * token and key
	 */
	static String acquireMany(String table) {
		return format(ACQUIRE_MANY, table, true);
	}

	/**
	 * The statement that releases several keys.
	 * @param table the lock table, a validated identifier
	 * @param notifies whether a release notifies an address
	 * @return the SQL; binds arrays of keys and owners, answers the key second
	 */
	static String releaseMany(String table, boolean notifies) {
		return format(RELEASE_MANY, table, notifies);
	}

	/**
	 * The statement that renews many leases.
	 * @param table the lock table, a validated identifier
	 * @return the SQL; binds arrays of keys, owners and leases in µs, answers the
	 * position of a lease and whether it is renewed
	 */
	static String renewMany(String table) {
		return RENEW_MANY.formatted(table);
	}

}
