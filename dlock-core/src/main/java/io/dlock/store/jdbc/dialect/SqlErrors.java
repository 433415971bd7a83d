package io.dlock.store.jdbc.dialect;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * The meaning of a SQL error for a statement in auto-commit mode. A statement that the
 * database rolled back had no effect; a timeout or a broken connection leaves the effect
 * open.
 */
public final class SqlErrors {

	/**
	 * Deadlock, serialization failure, duplicate key of a racing insert: run it again.
	 */
	private static final Set<String> CONFLICT = Set.of("40001", "40P01", "23505");

	/**
	 * MySQL: deadlock, record changed (MariaDB snapshot isolation), duplicate key.
	 */
	private static final Set<Integer> MYSQL_CONFLICT = Set.of(1213, 1020, 1062);

	/**
	 * MySQL: a lock wait timeout, which some drivers also report as 40001. The statement
	 * is not repeated.
	 */
	private static final int MYSQL_LOCK_WAIT_TIMEOUT = 1205;

	/**
	 * Statement or lock timeout that the server enforced, or too many notifications that
	 * were not fetched.
	 */
	private static final Set<String> ROLLED_BACK = Set.of("57014", "55P03", "HYT00", "54000");

	private static final String READ_ONLY = "25006";

	/** MySQL: the server runs with --read-only or in a read-only transaction. */
	private static final Set<Integer> MYSQL_READ_ONLY = Set.of(1290, 1792, 1836);

	/**
	 * MySQL: too many connections of the user or uses of the account, too many prepared
	 * statements. Their state is that of a syntax error.
	 */
	private static final Set<Integer> MYSQL_LIMITS = Set.of(1203, 1226, 1461);

	private SqlErrors() {
	}

	/**
	 * Whether the statement met a conflict that the database resolved: run it again.
	 */
	public static boolean isConflict(SQLException ex) {
		return ex.getErrorCode() != MYSQL_LOCK_WAIT_TIMEOUT
				&& (CONFLICT.contains(state(ex)) || MYSQL_CONFLICT.contains(ex.getErrorCode()));
	}

	static boolean isMissingTableOrColumn(SQLException ex) {
		String state = state(ex);
		return state.startsWith("42S") || state.equals("42P01") || state.equals("3F000") || isMissingColumn(ex);
	}

	static boolean isMissingColumn(SQLException ex) {
		return state(ex).equals("42S22") || state(ex).equals("42703");
	}

	/**
	 * The failure of an operation.
	 */
	public static StoreException translate(String operation, SQLException ex) {
		String message = "The database failed to " + operation + " (" + state(ex) + ": " + ex.getMessage() + ")";
		if (isRolledBack(ex) || isLimit(ex)) {
			return new StoreException(Effect.NONE, false, message, ex);
		}
		if (isPermanent(ex)) {
			return new StoreException(Effect.NONE, true, message, ex);
		}
		return new StoreException(Effect.UNKNOWN, false, message, ex);
	}

	static boolean isRolledBack(SQLException ex) {
		return isConflict(ex) || ex.getErrorCode() == MYSQL_LOCK_WAIT_TIMEOUT || ROLLED_BACK.contains(state(ex))
				|| isReadOnly(ex);
	}

	/**
	 * Whether the server refuses to write, as a standby or because of its settings.
	 * Another connection may lead to another server.
	 */
	public static boolean isReadOnly(SQLException ex) {
		return READ_ONLY.equals(state(ex)) || MYSQL_READ_ONLY.contains(ex.getErrorCode());
	}

	/**
	 * Whether the statement was blocked by a row, or took too long.
	 */
	public static boolean isSlowOrBlocked(SQLException ex) {
		return isRolledBack(ex) && !isConflict(ex) && !isReadOnly(ex);
	}

	/**
	 * The failure to get a connection.
	 */
	public static StoreException notConnected(SQLException ex) {
		return new StoreException(Effect.NONE, isPermanent(ex),
				"There is no connection to the lock database (" + reason(ex) + ")", ex);
	}

	/**
	 * The exception of a pool reports a timeout, and that of the driver the reason.
	 */
	private static String reason(SQLException ex) {
		Throwable reason = (ex instanceof SQLTransientConnectionException && ex.getCause() != null) ? ex.getCause()
				: ex;
		Throwable root = NestedExceptionUtils.getMostSpecificCause(reason);
		String message = String.valueOf(reason.getMessage());
		return (root == reason || message.contains(String.valueOf(root.getMessage()))) ? message : message + " " + root;
	}

	/**
	 * Whether another attempt is pointless.
	 */
	public static boolean isPermanent(SQLException ex) {
		return isPermanent(state(ex)) && !isLimit(ex);
	}

	/**
	 * The exception of a pool has the state of the driver's, and no code.
	 */
	private static boolean isLimit(@Nullable Throwable ex) {
		return ex instanceof SQLException sql && (MYSQL_LIMITS.contains(sql.getErrorCode()) || isLimit(sql.getCause()));
	}

	/** Syntax error or access violation, wrong credentials, data that does not fit. */
	private static boolean isPermanent(String state) {
		return state.startsWith("42") || state.startsWith("28") || state.startsWith("22") || state.startsWith("3D")
				|| state.startsWith("3F") || state.startsWith("0A");
	}

	private static String state(SQLException ex) {
		@Nullable String state = ex.getSQLState();
		return (state != null) ? state : "";
	}

}
