package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.WaitingQueue;

/**
 * The lock table and its checks at start-up.
 *
 * @param name the name, a validated identifier with or without a schema
 */
record LockTable(String name) {

	/** The effect of a collation that is not a binary one. */
	static final String MIXES_KEYS = "which treats different keys as equal";

	private static final String[] COLUMNS = { "lock_key", "owner", "token", "acquired_at", "lease_until", "renewals",
			"holder", "reason", "waiting" };

	/**
	 * The length that each column needs; zero if it does not matter.
	 */
	private static final int[] LENGTHS = { 512, 32, 0, 0, 0, 0, 255, 255, 0 };

	/**
	 * Check that all columns exist and are long enough.
	 * @param connection an auto-commit connection
	 * @throws SQLException if the database does not answer
	 */
	void verifyColumns(Connection connection) throws SQLException {
		String select = "SELECT " + String.join(", ", COLUMNS) + " FROM " + this.name + " WHERE 1 = 0";
		try (PreparedStatement statement = connection.prepareStatement(select);
				ResultSet nothing = statement.executeQuery()) {
			ResultSetMetaData columns = nothing.getMetaData();
			for (int i = 0; i < COLUMNS.length; i++) {
				int length = columns.getPrecision(i + 1);
				if (length < LENGTHS[i] && length != 0) {
					throw tooShort(COLUMNS[i], length, LENGTHS[i], null);
				}
			}
		}
		catch (SQLException ex) {
			if (SqlErrors.isMissingTableOrColumn(ex)) {
				throw missing(ex);
			}
			throw ex;
		}
	}

	/**
	 * Check that the column of the queue, which was shorter in earlier versions, has room
	 * for all entries. Databases cut blanks that are too many, without which a queue is
	 * not readable.
	 * @param connection an auto-commit connection
	 * @param widening the end of an {@code ALTER TABLE} statement
	 * @throws SQLException if the database does not answer
	 */
	void verifyQueue(Connection connection, String widening) throws SQLException {
		int length = queueLength(connection);
		if (length < WaitingQueue.FULL) {
			throw tooShort("waiting", length, WaitingQueue.FULL, widening);
		}
	}

	/**
	 * The number of characters that fit into the column of the queue.
	 * @param connection an auto-commit connection
	 * @return the length; the largest number if there is no such column
	 * @throws SQLException if the database does not answer
	 */
	int queueLength(Connection connection) throws SQLException {
		String select = "SELECT waiting FROM " + this.name + " WHERE 1 = 0";
		try (PreparedStatement statement = connection.prepareStatement(select);
				ResultSet nothing = statement.executeQuery()) {
			int length = nothing.getMetaData().getPrecision(1);
			// MariaDB's driver does not know the length of a LONGTEXT
			return (length != 0) ? length : Integer.MAX_VALUE;
		}
		catch (SQLException ex) {
			if (SqlErrors.isMissingTableOrColumn(ex)) {
				return Integer.MAX_VALUE;
			}
			throw ex;
		}
	}

	private StoreMisconfiguredException tooShort(String column, int length, int needed, @Nullable String alteration) {
		return refusal("The column %s of the lock table '%s' has room for %d characters and needs %d.".formatted(column,
				this.name, length, needed), alteration);
	}

	private StoreMisconfiguredException missing(SQLException cause) {
		return new StoreMisconfiguredException(
				"The lock table '%s' is missing or lacks a column (%s).".formatted(this.name,
						String.valueOf(cause.getMessage()).replaceAll("\\s+", " ").trim()),
				"Create it with the script schema-<database>.sql of dlock-core (package io.dlock.store.jdbc), "
						+ "or set dlock.jdbc.initialize-schema=always if it is the auto-configured store.",
				cause);
	}

	/**
	 * Query the catalogue of the database for this table.
	 * @param connection an auto-commit connection
	 * @param query binds the schema or {@code null} and the name
	 * @param rows takes each row
	 * @throws SQLException if the database does not answer
	 */
	void ask(Connection connection, String query, Rows rows) throws SQLException {
		int dot = this.name.indexOf('.');
		try (PreparedStatement statement = connection.prepareStatement(query)) {
			statement.setString(1, (dot < 0) ? null : this.name.substring(0, dot));
			statement.setString(2, simpleName());
			try (ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					rows.take(row);
				}
			}
		}
	}

	/**
	 * The name without the schema.
	 * @return the name as it is configured
	 */
	String simpleName() {
		return this.name.substring(this.name.indexOf('.') + 1);
	}

	/**
	 * Create the exception for a column that is not suitable.
	 * @param consequence the consequence of the collation
	 * @param alteration the end of an {@code ALTER TABLE} statement, or {@code null}
	 * @return the exception to throw
	 */
	StoreMisconfiguredException wrongCollation(String column, String collation, String consequence,
			@Nullable String alteration) {
		return refusal("The column %s of the lock table '%s' has the collation %s, %s.".formatted(column, this.name,
				collation, consequence), alteration);
	}

	/**
	 * Create the exception for a table that is not suitable.
	 * @param problem the problem of the table
	 * @param alteration the end of an {@code ALTER TABLE} statement, or {@code null}
	 * @return the exception to throw
	 */
	StoreMisconfiguredException refusal(String problem, @Nullable String alteration) {
		String create = "Create it with the script schema-<database>.sql of dlock-core (package io.dlock.store.jdbc)";
		return new StoreMisconfiguredException(problem,
				(alteration != null) ? create + ", or ALTER TABLE " + this.name + " " + alteration : create + ".",
				null);
	}

	/**
	 * Takes the rows of an answer.
	 */
	@FunctionalInterface
	interface Rows {

		void take(ResultSet row) throws SQLException;

	}

}
