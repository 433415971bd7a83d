package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Pools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The consequences of a server's settings for the locks.
 */
@Timeout(120)
class MariaDbSettingsIntegrationTests {

	private static final JdbcLockStoreSettings SETTINGS = JdbcLockStoreSettings.defaults()
		.withCommandTimeout(Duration.ofSeconds(10));

	@Test
	void binaryLogOfStatementsIsRefusedAtOnceAndAnyOtherIsNot() throws SQLException {
		try (MariaDbServer server = MariaDbServer.start("--log-bin=log", "--binlog-format=STATEMENT");
				HikariDataSource pool = Pools.create(server)) {
			Pools.createLockTable(pool, "mysql");
			try (JdbcLockStore store = new JdbcLockStore(pool, SETTINGS)) {
				assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
					.withMessageContaining("binlog_format = ROW");
			}
			for (String format : new String[] { "MIXED", "ROW" }) {
				execute(server, "SET GLOBAL binlog_format = " + format);
				try (JdbcLockStore store = new JdbcLockStore(pool, SETTINGS)) {
					store.verify();
					assertThat(store.acquire(new AcquireCommand(format, "a", Duration.ofSeconds(20), "holder", "")))
						.isInstanceOf(Granted.class);
				}
			}
		}
	}

	@Test
	void waitsForRowsAndForTablesAreLimited() {
		try (HikariDataSource pool = Pools.create(MariaDbServer.shared());
				JdbcLockStore store = new JdbcLockStore(pool, SETTINGS)) {
			for (String wait : new String[] { "innodb_lock_wait_timeout", "lock_wait_timeout" }) {
				assertThat(ownSetting(store, wait)).as(wait).isEqualTo(10);
			}
		}
	}

	private static int ownSetting(JdbcLockStore store, String name) {
		return store.connections().execute("show", (dialect, connection) -> {
			try (Statement statement = connection.createStatement();
					ResultSet row = statement.executeQuery("SELECT @@SESSION." + name)) {
				row.next();
				return row.getInt(1);
			}
		});
	}

	private static void execute(MariaDbServer server, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(server.mariaDbUrl(), server.username(),
				server.password()); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
