package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.dlock.store.Quarantine;
import io.dlock.store.StoreMisconfiguredException;

/**
 * Selects the dialect of a database by what the database reports of itself.
 */
public final class LockDialectSelector {

	private static final String OTHER_DATABASE = "Use PostgreSQL, MySQL, MariaDB or H2 for the locks, or Redis.";

	/**
	 * The version that the driver knows may be that of a proxy, and ProxySQL answers the
	 * usual spelling itself.
	 */
	private static final String MYSQL_VERSION = "SELECT VERSION( ) /* of the server */";

	private static final Pattern MAJOR_AND_MINOR = Pattern.compile("(\\d+)\\.(\\d+)");

	private LockDialectSelector() {
	}

	/**
	 * Select a dialect.
	 * @param metaData the database
	 * @param table the lock table, a validated identifier
	 * @return the dialect
	 * @throws SQLException if the database does not answer
	 */
	public static LockDialect select(DatabaseMetaData metaData, String table) throws SQLException {
		return select(metaData, table, true, null);
	}

	/**
	 * Select a dialect.
	 * @param metaData the database
	 * @param table the lock table, a validated identifier
	 * @param notifies whether releases notify waiting processes if the database can
	 * @param quarantine how long no lock is granted after a failover, or {@code null}
	 * @return the dialect
	 * @throws SQLException if the database does not answer
	 */
	public static LockDialect select(DatabaseMetaData metaData, String table, boolean notifies,
			@Nullable Quarantine quarantine) throws SQLException {
		String product = metaData.getDatabaseProductName();
		if (quarantine != null) {
			refuseWithoutHistory(product);
			refuseFormerPrimary(quarantine);
		}
		return switch (product) {
			case "PostgreSQL" -> postgreSql(metaData.getConnection(), table, notifies, quarantine);
			case "MySQL", "MariaDB" -> mySql(metaData.getConnection(), table);
			case "H2" -> new H2LockDialect(table);
			default -> throw new StoreMisconfiguredException("dlock does not know the database '" + product + "'.",
					OTHER_DATABASE, null);
		};
	}

	private static LockDialect postgreSql(Connection connection, String table, boolean notifies,
			@Nullable Quarantine quarantine) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT version(), current_setting('server_encoding')")) {
			row.next();
			refuseManyClocks(row.getString(1), "CockroachDB", "-YB-", "Yugabyte");
			return new PostgreSqlLockDialect(table, !"UTF8".equals(row.getString(2)), notifies, quarantine);
		}
	}

	private static LockDialect mySql(Connection connection, String table) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery(MYSQL_VERSION)) {
			row.next();
			return mySql(row.getString(1), table);
		}
	}

	static LockDialect mySql(String version, String table) {
		refuseManyClocks(version, "TiDB");
		refuseTooOld(version);
		return new MySqlLockDialect(table);
	}

	/**
	 * Refuse a server without {@code JSON_TABLE} and {@code SKIP LOCKED}: it would grant
	 * locks and renew none.
	 */
	private static void refuseTooOld(String version) {
		Matcher number = MAJOR_AND_MINOR.matcher(version);
		int oldest = version.contains("MariaDB") ? 1006 : 800;
		if (number.lookingAt()
				&& Integer.parseInt(number.group(1)) * 100 + Integer.parseInt(number.group(2)) < oldest) {
			throw new StoreMisconfiguredException(
					"The lock database is too old (%s): it cannot renew locks.".formatted(version),
					"Use MySQL 8.0, MariaDB 10.6 or a newer version for the locks.", null);
		}
	}

	/**
	 * Refuse a database on which a server cannot notice that another one was the primary
	 * meanwhile.
	 */
	private static void refuseWithoutHistory(String product) {
		String reason = switch (product) {
			case "MySQL", "MariaDB" ->
				"a promotion leaves no mark on %s: a server that was the primary before, and becomes it again, could not notice that it has missed locks";
			case "H2" -> "%s has no failover, and does not tell whether it has lost locks";
			default -> null;
		};
		if (reason != null) {
			throw new StoreMisconfiguredException(
					"The quarantine of locks after a failover is on, but " + reason.formatted(product) + ".",
					"Use PostgreSQL or Redis for the locks, or set dlock.failover.quarantine=off.", null);
		}
	}

	/**
	 * Refuse a former primary that goes on to answer: it could grant a lock whose holder
	 * renews it on the new primary.
	 */
	private static void refuseFormerPrimary(Quarantine quarantine) {
		if (!quarantine.maxLag().isZero()) {
			throw new StoreMisconfiguredException(
					"The quarantine of locks after a failover allows a former primary to answer for another %d ms, in which PostgreSQL would grant locks twice."
						.formatted(quarantine.maxLag().toMillis()),
					"Have the former primary stopped before its standby is promoted, and set dlock.failover.max-lag=0s.",
					null);
		}
	}

	/**
	 * Refuse a database that speaks the language of another one but has many nodes, each
	 * with its own clock: a lease that one node grants is over earlier by the clock of
	 * the next.
	 * @param version the version that the database reports
	 * @param names the names by which such databases are known from their versions
	 */
	private static void refuseManyClocks(String version, String... names) {
		for (String name : names) {
			if (version.contains(name)) {
				throw new StoreMisconfiguredException(
						"The lock database has a clock on each node (%s), so that two nodes may grant the same lock."
							.formatted(version),
						OTHER_DATABASE, null);
			}
		}
	}

}
