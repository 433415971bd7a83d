package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A database whose statements take longer than the command timeout keeps the sessions of
 * those that were given up: the locks must not take all sessions of the server.
 */
class SlowDatabaseIntegrationTests {

	private static final int POOL_SIZE = 6;

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	/**
	 * No timeout of PostgreSQL ends a commit that waits for a standby.
	 */
	@Test
	void d1CommitsThatWaitForAStandbyTakeNoMoreSessionsThanThePoolHas() throws Exception {
		try (PostgresServer server = PostgresServer.start();
				HikariDataSource admin = pool(server.jdbcUrl(), server.username(), server.password())) {
			Pools.createLockTable(admin, "postgresql");
			run(admin, "CREATE ROLE shop LOGIN PASSWORD 'shop'");
			run(admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_lock TO shop");
			staysWithinThePool(admin, server.jdbcUrl(), "shop",
					"SELECT count(*) FROM pg_stat_activity WHERE usename = 'shop'", () -> standby(admin, "away"),
					() -> standby(admin, ""));
		}
	}

	/**
	 * Its sessions cannot be ended then.
	 */
	@Test
	void d1UserWithoutTheRightToSeeSessionsHasLocksAllTheSame() {
		try (PostgresServer server = PostgresServer.start();
				HikariDataSource admin = pool(server.jdbcUrl(), server.username(), server.password())) {
			Pools.createLockTable(admin, "postgresql");
			run(admin, "CREATE ROLE shop LOGIN PASSWORD 'shop'");
			run(admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_lock TO shop");
			run(admin, "REVOKE EXECUTE ON FUNCTION pg_stat_get_activity(integer) FROM PUBLIC");
			try (HikariDataSource pool = pool(server.jdbcUrl(), "shop", "shop");
					JdbcLockStore store = new JdbcLockStore(pool,
							JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND))) {
				acquire(store);
			}
		}
	}

	private static void standby(HikariDataSource admin, String name) {
		run(admin, "ALTER SYSTEM SET synchronous_standby_names = '" + name + "'");
		JdbcClient.create(admin).sql("SELECT pg_reload_conf()").query().listOfRows();
	}

	/**
	 * A statement that waits for a table waits for at least a second, longer than the
	 * client.
	 */
	@Test
	void d1StatementsThatWaitForATableTakeNoMoreSessionsThanThePoolHas() throws Exception {
		MariaDbServer server = MariaDbServer.shared();
		try (HikariDataSource admin = pool(server.mariaDbUrl(), server.username(), server.password());
				Connection blocker = admin.getConnection();
				Statement statement = blocker.createStatement()) {
			Pools.createLockTable(admin, "mysql");
			run(admin, "CREATE USER IF NOT EXISTS slow@'%' IDENTIFIED BY 'shop'");
			run(admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_lock TO slow@'%'");
			staysWithinThePool(admin, server.mariaDbUrl(), "slow",
					"SELECT count(*) FROM information_schema.processlist WHERE user = 'slow'",
					() -> statement.execute("LOCK TABLES dlock_lock WRITE"), () -> statement.execute("UNLOCK TABLES"));
		}
	}

	private void staysWithinThePool(HikariDataSource admin, String url, String user, String sessions, Action slow,
			Action fast) throws Exception {
		ExecutorService callers = Executors.newFixedThreadPool(8);
		try (HikariDataSource pool = pool(url, user, "shop");
				JdbcLockStore store = new JdbcLockStore(pool,
						JdbcLockStoreSettings.defaults().withCommandTimeout(TIMEOUT).withPoolSize(POOL_SIZE))) {
			Awaitility.await().ignoreException(StoreException.class).untilAsserted(() -> acquire(store));
			slow.run();
			for (int i = 0; i < 8; i++) {
				callers.execute(() -> {
					while (!callers.isShutdown()) {
						try {
							acquire(store);
						}
						catch (StoreException ex) {
							// as long as the database is slow
						}
					}
				});
			}
			JdbcClient client = JdbcClient.create(admin);
			Awaitility.await()
				.during(TIMEOUT.multipliedBy(6))
				.atMost(Duration.ofSeconds(20))
				.untilAsserted(() -> assertThat(client.sql(sessions).query(Integer.class).single())
					.isLessThanOrEqualTo(POOL_SIZE + 2));
			fast.run();
			Awaitility.await().ignoreException(StoreException.class).untilAsserted(() -> acquire(store));
		}
		finally {
			callers.shutdown();
			fast.run();
			callers.awaitTermination(10, TimeUnit.SECONDS);
		}
	}

	private static void acquire(JdbcLockStore store) {
		assertThat(store.acquire(new AcquireCommand("slow/" + UUID.randomUUID(), "a", Duration.ofSeconds(20), "", "")))
			.isInstanceOf(Granted.class);
	}

	private static HikariDataSource pool(String url, String username, String password) {
		HikariDataSource pool = Pools.create(url, username, password);
		pool.setMaximumPoolSize(2);
		return pool;
	}

	private static void run(HikariDataSource admin, String sql) {
		JdbcClient.create(admin).sql(sql).update();
	}

	@FunctionalInterface
	private interface Action {

		void run() throws SQLException;

	}

}
