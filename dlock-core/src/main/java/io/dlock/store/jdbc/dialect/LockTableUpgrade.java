package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Adds the columns of later versions to a lock table. Versions that do not know a column
 * go on working with the table.
 */
public final class LockTableUpgrade {

	private static final Log logger = LogFactory.getLog(LockTableUpgrade.class);

	/** The statement waits for the transactions that use the table, and others for it. */
	private static final int TIMEOUT_SECONDS = 5;

	private LockTableUpgrade() {
	}

	/**
	 * Add the columns that are missing. A failure is logged: only shared locks and
	 * permits need them.
	 * @param connection an auto-commit connection
	 * @param table the lock table, a validated identifier
	 * @throws SQLException if the database does not answer
	 */
	public static void addMissingColumns(Connection connection, String table) throws SQLException {
		if (hasMembers(connection, table)) {
			return;
		}
		String addition = LockDialectSelector.select(connection.getMetaData(), table).addMembers();
		try {
			execute(connection, addition);
		}
		catch (SQLException ex) {
			if (!hasMembers(connection, table)) {
				logger.info(
						"The lock table '%s' has no column 'members', which shared locks and permits need (%s). Run %s"
							.formatted(table, ex.getMessage(), addition));
			}
		}
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
