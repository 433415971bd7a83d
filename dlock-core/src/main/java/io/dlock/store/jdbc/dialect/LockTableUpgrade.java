package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.WaitingQueue;

/**
 * Gives a lock table of an earlier version the columns of this one. Earlier versions go
 * on working with the table.
 */
public final class LockTableUpgrade {

	private static final Log logger = LogFactory.getLog(LockTableUpgrade.class);

	/** The statement waits for the transactions that use the table, and others for it. */
	private static final int TIMEOUT_SECONDS = 5;

	private LockTableUpgrade() {
	}

	/**
	 * Add the column of the members if it is missing, and widen that of the queue if it
	 * is too short. A failure is logged: only shared locks and permits need the members,
	 * and the start fails without room for the queue.
	 * @param connection an auto-commit connection
	 * @param table the lock table, a validated identifier
	 * @throws SQLException if the database does not answer
	 */
	public static void run(Connection connection, String table) throws SQLException {
		LockDialect dialect = LockDialectSelector.select(connection.getMetaData(), table);
		if (!hasMembers(connection, table)) {
			addMembers(connection, table, dialect);
		}
		if (new LockTable(table).queueLength(connection) < WaitingQueue.FULL) {
			widenQueue(connection, table, dialect);
		}
	}

	private static void addMembers(Connection connection, String table, LockDialect dialect) throws SQLException {
		String addition = dialect.addMembers();
		try {
			alter(connection, dialect, addition);
		}
		catch (SQLException ex) {
			if (!hasMembers(connection, table)) {
				logger.info(
						"The lock table '%s' has no column 'members', which shared locks and permits need (%s). Run %s"
							.formatted(table, ex.getMessage(), addition));
			}
		}
	}

	private static void widenQueue(Connection connection, String table, LockDialect dialect) {
		try {
			alter(connection, dialect, "ALTER TABLE " + table + " " + dialect.widenQueue());
		}
		catch (SQLException ex) {
			logger.info("The column 'waiting' of the lock table '%s' was not widened within %d s (%s)".formatted(table,
					TIMEOUT_SECONDS, ex.getMessage()));
		}
	}

	private static void alter(Connection connection, LockDialect dialect, String alteration) throws SQLException {
		execute(connection, dialect.limitTableWait(TIMEOUT_SECONDS));
		try {
			execute(connection, alteration);
		}
		catch (SQLException ex) {
			try {
				execute(connection, dialect.restoreTableWait());
			}
			catch (SQLException suppressed) {
				ex.addSuppressed(suppressed);
			}
			throw ex;
		}
		execute(connection, dialect.restoreTableWait());
	}

	private static boolean hasMembers(Connection connection, String table) throws SQLException {
		try {
			execute(connection, "SELECT members FROM " + table + " WHERE 1 = 0");
			return true;
		}
		catch (SQLException ex) {
			if (SqlErrors.isMissingTableOrColumn(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		if (sql.isEmpty()) {
			return;
		}
		try (Statement statement = connection.createStatement()) {
			int before = statement.getQueryTimeout();
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			try {
				statement.execute(sql);
			}
			finally {
				// on H2 it is that of the connection
				statement.setQueryTimeout(before);
			}
		}
	}

}
