package io.dlock.store.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.BinaryOperator;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.support.AopUtils;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.jdbc.dialect.LockTableUpgrade;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Pools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * The consequences of a server's settings for the locks.
 */
@Timeout(120)
class MariaDbSettingsIntegrationTests {

	private static final Duration LEASE = Duration.ofMinutes(2);

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

	/**
	 * The optimizer begins with the lock table if it is smaller than the number of rows
	 * that it expects of the leases.
	 */
	@Test
	void r34RowOfASmallTableThatAnotherSessionHasLockedHoldsUpNoOther() throws SQLException {
		withSmallTable((store, statement) -> {
			statement.executeQuery("SELECT * FROM dlock_small WHERE lock_key = 'a' FOR UPDATE").close();
			assertThat(
					store.renew(List.of(new RenewCommand("b", "owner", LEASE), new RenewCommand("c", "owner", LEASE))))
				.containsExactly(RenewResult.RENEWED, RenewResult.RENEWED);
			assertThat(store.sweep()).isFalse();
		});
	}

	@Test
	void sweepLeavesRowsThatAnotherSessionHasLocked() throws SQLException {
		withSmallTable((store, statement) -> {
			statement.executeUpdate(
					"UPDATE dlock_small SET lease_until = '2020-01-01', token = 1 WHERE lock_key IN ('a', 'c')");
			statement.getConnection().commit();
			statement.executeQuery("SELECT * FROM dlock_small WHERE lock_key IN ('b', 'c') FOR UPDATE").close();
			assertThat(store.sweep()).isFalse();
			try (ResultSet keys = statement.executeQuery("SELECT GROUP_CONCAT(lock_key) FROM dlock_small")) {
				keys.next();
				assertThat(keys.getString(1)).isEqualTo("b,c");
			}
		});
	}

	private void withSmallTable(SmallTable test) throws SQLException {
		try (HikariDataSource pool = Pools.create(MariaDbServer.shared());
				Connection other = pool.getConnection();
				Statement statement = other.createStatement()) {
			Pools.createLockTable(pool, "mysql");
			statement.execute("DROP TABLE IF EXISTS dlock_small");
			statement.execute("CREATE TABLE dlock_small LIKE dlock_lock");
			other.setAutoCommit(false);
			try (JdbcLockStore store = new JdbcLockStore(pool, SETTINGS.withTable("dlock_small"))) {
				for (String key : List.of("a", "b", "c")) {
					assertThat(store.acquire(new AcquireCommand(key, "owner", LEASE, "holder", "")))
						.isInstanceOf(Granted.class);
				}
				test.run(store, statement);
				other.rollback();
			}
		}
	}

	private interface SmallTable {

		void run(JdbcLockStore store, Statement otherSession) throws SQLException;

	}

	/**
	 * Some drivers have no timeout of their own.
	 */
	@Test
	void upgradeThatATransactionHoldsUpGivesUp() throws SQLException {
		withSmallTable((store, statement) -> {
			try (HikariDataSource pool = Pools.create(MariaDbServer.shared());
					Connection connection = pool.getConnection()) {
				connection.createStatement().execute("ALTER TABLE dlock_small MODIFY waiting VARCHAR(4096) NOT NULL");
				statement.executeQuery("SELECT * FROM dlock_small").close();
				int before = setting(connection, "lock_wait_timeout");
				assertTimeoutPreemptively(Duration.ofMinutes(1),
						() -> LockTableUpgrade.run(withoutTimeouts(connection), "dlock_small"));
				assertThat(setting(connection, "lock_wait_timeout")).isEqualTo(before);
			}
		});
	}

	private static Connection withoutTimeouts(Connection connection) {
		return proxy(Connection.class, connection, (method, result) -> method.equals("createStatement")
				? proxy(Statement.class, (Statement) result, (name, value) -> value) : result);
	}

	private static <T> T proxy(Class<T> type, T target, BinaryOperator<Object> results) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, method, arguments) -> method.getName().equals("setQueryTimeout") ? null : results
					.apply(method.getName(), AopUtils.invokeJoinpointUsingReflection(target, method, arguments))));
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
		return store.connections().execute("show", (dialect, connection) -> setting(connection, name));
	}

	private static int setting(Connection connection, String name) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT @@SESSION." + name)) {
			row.next();
			return row.getInt(1);
		}
	}

	private static void execute(MariaDbServer server, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(server.mariaDbUrl(), server.username(),
				server.password()); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
