package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreFacts;

/**
 * The facts that databases report of themselves, with warnings of those that may cost a
 * lock.
 */
final class DatabaseFacts {

	private static final Set<String> OFF = Set.of("0", "OFF", "off", "NO");

	private static final String MYSQL_SETTINGS = """
			SHOW VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format', 'sync_binlog', 'wsrep_on', 'group_replication_single_primary_mode')
			""";

	private DatabaseFacts() {
	}

	static StoreFacts ofPostgreSql(Connection connection) throws SQLException {
		String[] values = ask(connection,
				"""
						SELECT split_part(current_setting('server_version'), ' ', 1), pg_is_in_recovery(),
						  current_setting('transaction_read_only'), current_setting('fsync'), current_setting('synchronous_commit'),
						  current_setting('synchronous_standby_names')
						""");
		boolean standby = "t".equals(values[1]) || "true".equals(values[1]);
		List<String> warnings = new ArrayList<>();
		if (standby) {
			warnings.add("This is a standby: it takes no locks");
		}
		else if (!OFF.contains(values[2])) {
			warnings.add("Transactions are read-only (default_transaction_read_only): no locks can be taken");
		}
		if (OFF.contains(values[3])) {
			warnings.add("fsync is off: a crash may give away a lock that is held");
		}
		if (OFF.contains(values[4])) {
			warnings.add("synchronous_commit is off on the connections of the locks: "
					+ "a crash may give away a lock that is held");
		}
		if (values[4].startsWith("remote_") && values[5].isBlank()) {
			warnings.add("synchronous_commit is " + values[4]
					+ ", but synchronous_standby_names is empty: no lock waits for a standby");
		}
		return new StoreFacts("PostgreSQL " + values[0], standby ? "standby" : "primary", warnings);
	}

	static StoreFacts ofMySql(Connection connection) throws SQLException {
		String[] values = ask(connection,
				"SELECT VERSION(), @@global.read_only, @@global.innodb_flush_log_at_trx_commit");
		boolean readOnly = !OFF.contains(values[1]);
		List<String> warnings = new ArrayList<>();
		if (readOnly) {
			warnings.add("The server is read-only: it takes no locks");
		}
		Map<String, String> settings = settingsOfMySql(connection);
		warnings.addAll(durabilityOfMySql(values[2], settings));
		warnings.addAll(clocksOfMySql(settings));
		String product = values[0].contains("MariaDB") ? "MariaDB " : "MySQL ";
		return new StoreFacts(product + values[0].replaceFirst("-.*", ""), readOnly ? "read-only" : "primary",
				warnings);
	}

	/**
	 * With the binary log, InnoDB leaves the last write of a commit to the log, unless it
	 * flushes at each step (3, in MariaDB).
	 */
	private static List<String> durabilityOfMySql(String flush, Map<String, String> settings) {
		if (flush.equals("3")) {
			return List.of();
		}
		if (!flush.equals("1")) {
			return List.of("innodb_flush_log_at_trx_commit is " + flush
					+ ": a crash may give away a lock that is held. It has to be 1");
		}
		String sync = settings.get("sync_binlog");
		return ("ON".equals(settings.get("log_bin")) && sync != null && !sync.equals("1")) ? List.of("sync_binlog is "
				+ sync + ": a crash may give away a lock that is held. It has to be 1 with a binary log") : List.of();
	}

	/**
	 * The settings of MySQL and MariaDB that do not exist everywhere.
	 */
	static Map<String, String> settingsOfMySql(Connection connection) throws SQLException {
		Map<String, String> settings = new HashMap<>();
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery(MYSQL_SETTINGS)) {
			while (row.next()) {
				settings.put(row.getString(1).toLowerCase(Locale.ROOT), row.getString(2));
			}
		}
		return settings;
	}

	/**
	 * Whether the server may be one of several that take writes, as with Galera and with
	 * group replication that has no single primary.
	 */
	static List<String> clocksOfMySql(Map<String, String> settings) {
		boolean many = "ON".equals(settings.get("wsrep_on"))
				|| "OFF".equals(settings.get("group_replication_single_primary_mode"));
		return many ? List
			.of("Each server of this cluster takes locks by its own clock, so that two may grant the same lock: "
					+ "all applications have to use the same server for their locks")
				: List.of();
	}

	static StoreFacts ofH2(Connection connection) throws SQLException {
		String[] values = ask(connection, "SELECT H2VERSION(), READONLY()");
		boolean readOnly = "TRUE".equalsIgnoreCase(values[1]);
		return new StoreFacts("H2 " + values[0], null,
				readOnly ? List.of("The database is read-only: no locks can be taken") : List.of());
	}

	private static String[] ask(Connection connection, String query) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(query)) {
			row.next();
			String[] values = new String[row.getMetaData().getColumnCount()];
			for (int i = 0; i < values.length; i++) {
				@Nullable String value = row.getString(i + 1);
				values[i] = (value != null) ? value : "";
			}
			return values;
		}
	}

}
