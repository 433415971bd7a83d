package io.dlock.store.jdbc.dialect;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.LockSettings;
import io.dlock.console.StoreReport;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.StoreFacts;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * R19: what databases with all kinds of settings say of themselves.
 */
@Timeout(120)
class DatabaseFactsIntegrationTests {

	@Test
	void r19PostgreSql() throws SQLException {
		PostgresServer server = PostgresServer.shared();
		try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), server.username(),
				server.password())) {
			execute(connection, "SET synchronous_commit = on");
			StoreFacts facts = DatabaseFacts.ofPostgreSql(connection);
			assertThat(facts.server()).matches("PostgreSQL \\d+\\.\\d+.*");
			assertThat(facts.role()).isEqualTo("primary");
			assertThat(facts.warnings()).allSatisfy((warning) -> assertThat(warning).startsWith("fsync is off"));
			execute(connection, "SET synchronous_commit = remote_apply");
			assertThat(DatabaseFacts.ofPostgreSql(connection).warnings())
				.anySatisfy((warning) -> assertThat(warning).contains("no lock waits for a standby"));
			execute(connection, "SET synchronous_commit = off");
			assertThat(DatabaseFacts.ofPostgreSql(connection).warnings())
				.anySatisfy((warning) -> assertThat(warning).startsWith("synchronous_commit is off"));
			execute(connection, "SET default_transaction_read_only = on");
			assertThat(DatabaseFacts.ofPostgreSql(connection).warnings())
				.anySatisfy((warning) -> assertThat(warning).contains("read-only"));
		}
	}

	/**
	 * The facts that the health shows.
	 */
	@Test
	void r19StandbyTakesNoLockAndReportsItsRole() {
		try (PostgresServer primary = PostgresServer.start("-c", "fsync=off")) {
			HikariDataSource onPrimary = Pools.create(primary);
			Pools.createLockTable(onPrimary, "postgresql");
			assertThat(check(onPrimary)).satisfies((report) -> {
				assertThat(report.failure()).isNull();
				assertThat(report.role()).isEqualTo("primary");
				assertThat(report.warnings()).singleElement().asString().startsWith("fsync is off");
			});
			try (PostgresServer standby = primary.startStandby(primary.port(), Map.of())) {
				assertThat(check(Pools.create(standby))).satisfies((report) -> {
					assertThat(report.failure()).contains("read-only transaction");
					assertThat(report.server()).startsWith("PostgreSQL ");
					assertThat(report.role()).isEqualTo("standby");
					assertThat(report.warnings())
						.anySatisfy((warning) -> assertThat(warning).isEqualTo("This is a standby: it takes no locks"));
				});
			}
		}
	}

	private static StoreReport check(HikariDataSource pool) {
		LockSettings settings = LockSettings.builder()
			.lease(Patience.COMMAND.multipliedBy(4))
			.commandTimeout(Patience.COMMAND)
			.build();
		try (pool;
				JdbcLockStore store = new JdbcLockStore(pool,
						JdbcLockStoreSettings.defaults().withCommandTimeout(settings.commandTimeout()));
				LeaseLockRegistry registry = new LeaseLockRegistry(store, settings)) {
			return registry.console().check();
		}
	}

	@Test
	void r19MariaDb() throws SQLException {
		MariaDbServer server = MariaDbServer.shared();
		for (String url : new String[] { server.mariaDbUrl(), server.mysqlUrl() }) {
			try (Connection connection = DriverManager.getConnection(url, server.username(), server.password())) {
				mariaDb(connection);
			}
		}
	}

	private static void mariaDb(Connection connection) throws SQLException {
		try {
			execute(connection, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
			StoreFacts facts = DatabaseFacts.ofMySql(connection);
			assertThat(facts.server()).matches("MariaDB \\d+\\.\\d+\\.\\d+");
			assertThat(facts.role()).isEqualTo("primary");
			assertThat(facts.warnings()).isEmpty();
			execute(connection, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
			assertThat(DatabaseFacts.ofMySql(connection).warnings()).singleElement()
				.asString()
				.contains("innodb_flush_log_at_trx_commit is 2");
			execute(connection, "SET GLOBAL read_only = 1");
			assertThat(DatabaseFacts.ofMySql(connection).role()).isEqualTo("read-only");
		}
		finally {
			execute(connection, "SET GLOBAL read_only = 0");
			execute(connection, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
		}
	}

	/**
	 * A commit is then as durable as the binary log.
	 */
	@Test
	void r39BinaryLogThatIsNotSyncedIsWarnedOf() throws SQLException {
		try (MariaDbServer server = MariaDbServer.start("--log-bin=log", "--binlog-format=ROW", "--sync-binlog=0");
				Connection connection = DriverManager.getConnection(server.mariaDbUrl(), server.username(),
						server.password())) {
			execute(connection, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
			assertThat(DatabaseFacts.ofMySql(connection).warnings()).singleElement()
				.asString()
				.contains("sync_binlog is 0");
			execute(connection, "SET GLOBAL innodb_flush_log_at_trx_commit = 3");
			assertThat(DatabaseFacts.ofMySql(connection).warnings()).isEmpty();
			execute(connection, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
			execute(connection, "SET GLOBAL sync_binlog = 1");
			assertThat(DatabaseFacts.ofMySql(connection).warnings()).isEmpty();
		}
	}

	@Test
	void r33ClusterOfManyClocksIsWarnedOf() {
		assertThat(DatabaseFacts.clocksOfMySql(Map.of("wsrep_on", "ON"))).singleElement()
			.asString()
			.contains("own clock");
		assertThat(DatabaseFacts.clocksOfMySql(Map.of("group_replication_single_primary_mode", "OFF"))).hasSize(1);
		assertThat(DatabaseFacts
			.clocksOfMySql(Map.of("wsrep_on", "OFF", "group_replication_single_primary_mode", "ON", "log_bin", "ON")))
			.isEmpty();
	}

	@Test
	void r19H2(@TempDir Path directory) throws SQLException {
		String url = "jdbc:h2:file:" + directory.resolve("locks");
		try (Connection connection = DriverManager.getConnection(url)) {
			StoreFacts facts = DatabaseFacts.ofH2(connection);
			assertThat(facts.server()).matches("H2 2\\.\\d+\\.\\d+");
			assertThat(facts.role()).isNull();
			assertThat(facts.warnings()).isEmpty();
		}
		try (Connection connection = DriverManager.getConnection(url + ";ACCESS_MODE_DATA=r")) {
			assertThat(DatabaseFacts.ofH2(connection).warnings()).singleElement().asString().contains("read-only");
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
