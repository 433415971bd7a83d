package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
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
		if (!hasMembers(connection, table)) {
			addMembers(connection, table);
		}
		if (!hasWideQueue(connection, table)) {
			widenQueue(connection, table);
		}
	}

	private static void addMembers(Connection connection, String table) throws SQLException {
		String addition = dialect(connection, table).addMembers();
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

	private static void widenQueue(Connection connection, String table) throws SQLException {
		try {
			execute(connection, "ALTER TABLE " + table + " " + dialect(connection, table).widenQueue());
		}
		catch (SQLException ex) {
			logger.info("The column 'waiting' of the lock table '%s' was not widened within %d s (%s)".formatted(table,
					TIMEOUT_SECONDS, ex.getMessage()));
		}
	}

	private static LockDialect dialect(Connection connection, String table) throws SQLException {
		return LockDialectSelector.select(connection.getMetaData(), table);
	}

	private static boolean hasWideQueue(Connection connection, String table) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("SELECT waiting FROM " + table + " WHERE 1 = 0");
				ResultSet nothing = statement.executeQuery()) {
			int length = nothing.getMetaData().getPrecision(1);
			return length >= WaitingQueue.FULL || length == 0;
		}
		catch (SQLException ex) {
			if (SqlErrors.isMissingTableOrColumn(ex)) {
				// the check of the columns tells it
				return true;
			}
			throw ex;
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
