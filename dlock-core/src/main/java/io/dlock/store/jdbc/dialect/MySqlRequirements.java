package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.StoreMisconfiguredException;

/**
 * The settings of MySQL and MariaDB that the locks rely on.
 */
final class MySqlRequirements {

	private static final Log logger = LogFactory.getLog(MySqlRequirements.class);

	private static final String TABLE_FACTS = """
			SELECT t.engine, LOWER(c.column_name), c.character_set_name, c.collation_name, c.column_type,
			  t.table_type, t.table_name, @@lower_case_table_names = 0
			FROM information_schema.tables t JOIN information_schema.columns c
			  ON c.table_schema = t.table_schema AND c.table_name = t.table_name
			WHERE t.table_schema = COALESCE(?, DATABASE()) AND LOWER(t.table_name) = LOWER(?)
			  AND LOWER(c.column_name) IN ('lock_key', 'owner', 'waiting', 'holder', 'reason')
			ORDER BY c.ordinal_position
			""";

	private static final String SESSION = "SELECT @@SESSION.sql_mode, @@SESSION.sql_safe_updates";

	/**
	 * An assignment does not see those before it, or an empty text is {@code NULL}.
	 */
	private static final Set<String> OTHER_MEANING = Set.of("SIMULTANEOUS_ASSIGNMENT", "EMPTY_STRING_IS_NULL",
			"ORACLE");

	private static final Set<String> TEXTS = Set.of("holder", "reason");

	private static final Set<String> EVERY_CHARACTER = Set.of("utf8mb4", "utf16", "utf16le", "utf32", "gb18030");

	private MySqlRequirements() {
	}

	static void verify(Connection connection, LockTable table) throws SQLException {
		table.ask(connection, TABLE_FACTS, (row) -> verify(table, row));
		verifySession(connection);
		Map<String, String> settings = DatabaseFacts.settingsOfMySql(connection);
		verifyBinaryLog(settings);
		DatabaseFacts.clocksOfMySql(settings).forEach(logger::warn);
	}

	/**
	 * The locks' own connections have these settings right. Those of an application are
	 * used as they are.
	 */
	private static void verifySession(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(SESSION)) {
			row.next();
			List<String> modes = List.of(row.getString(1).split(","));
			if (row.getBoolean(2) || !Collections.disjoint(modes, OTHER_MEANING)) {
				throw new StoreMisconfiguredException(
						"The locks use connections of the application with sql_mode = '%s' and sql_safe_updates = %d, with which locks would be granted twice or not be renewed."
							.formatted(row.getString(1), row.getInt(2)),
						"Give the locks a pool of their own (dlock.jdbc.pool-size, without @DlockDataSource), "
								+ "or connections without SIMULTANEOUS_ASSIGNMENT, EMPTY_STRING_IS_NULL, ORACLE and sql_safe_updates.",
						null);
			}
		}
	}

	private static void verify(LockTable table, ResultSet row) throws SQLException {
		boolean other = row.getBoolean(8) && !row.getString(7).equals(table.simpleName());
		if (other) {
			return;
		}
		if ("VIEW".equals(row.getString(6))) {
			throw new StoreMisconfiguredException(
					"The lock table '%s' is a view, and its table cannot be checked.".formatted(table.name()),
					"Set dlock.jdbc.table to the name of the table, after its schema and a dot if need be.", null);
		}
		if (!"InnoDB".equalsIgnoreCase(row.getString(1))) {
			throw table.refusal("The lock table '%s' uses the engine %s, which does not lock rows."
				.formatted(table.name(), row.getString(1)), "ENGINE = InnoDB");
		}
		String column = row.getString(2);
		String collation = row.getString(4);
		if (TEXTS.contains(column) && !EVERY_CHARACTER.contains(String.valueOf(row.getString(3)))) {
			throw table.wrongCollation(column, collation, "which cannot store every character",
					"MODIFY %s VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL".formatted(column));
		}
		if (!TEXTS.contains(column) && collation != null && !collation.endsWith("_bin")) {
			throw table.wrongCollation(column, collation, LockTable.MIXES_KEYS,
					"MODIFY %s %s CHARACTER SET ascii COLLATE ascii_bin NOT NULL".formatted(column, row.getString(5)));
		}
	}

	/**
	 * With this format, InnoDB writes nothing in READ COMMITTED, and in a higher
	 * isolation a replica would renew other locks than its primary.
	 */
	private static void verifyBinaryLog(Map<String, String> settings) {
		if ("ON".equals(settings.get("log_bin")) && "STATEMENT".equals(settings.get("binlog_format"))) {
			throw new StoreMisconfiguredException(
					"The binary log of the lock database has the format STATEMENT, in which no lock can be taken.",
					"Set binlog_format = ROW or MIXED in the configuration of the server, "
							+ "or SET GLOBAL binlog_format = ROW and restart the application.",
					null);
		}
	}

}
