package io.dlock.store.jdbc;

import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import javax.management.ObjectName;
import javax.sql.DataSource;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.IMetricsTracker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;
import io.dlock.test.Pools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The pools of the locks, beside that of the application.
 */
class LockPoolTests {

	private static HikariDataSource pool(String url) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setUsername("sa");
		pool.setInitializationFailTimeout(-1);
		return pool;
	}

	@Test
	void c15PoolsOfTheLocksAreNotInTheLog() {
		try (CapturedLog log = CapturedLog.of("com.zaxxer.hikari").from(Level.INFO)) {
			try (HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
					JdbcLockStore store = new JdbcLockStore(application,
							JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND))) {
				Pools.createLockTable(application, "h2");
				store.verify();
			}
			assertThat(log.messages()).filteredOn((line) -> line.contains("dlock")).isEmpty();
		}
	}

	/**
	 * The end of a pool waits for the thread that connects. An interrupt would end that
	 * wait, and leave the thread behind.
	 */
	@Test
	void r50InterruptedThreadClosesAPoolThatConnects() throws InterruptedException {
		CountDownLatch connecting = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		String name = "pool-" + UUID.randomUUID();
		HikariDataSource pool = new HikariDataSource();
		pool.setInitializationFailTimeout(-1);
		pool.setPoolName(name);
		pool.setConnectionTimeout(250);
		pool.setMinimumIdle(1);
		pool.setDataSource(new DelegatingDataSource(new JdbcDataSource()) {

			@Override
			public Connection getConnection() throws SQLException {
				connecting.countDown();
				try {
					answer.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				throw new SQLException("no connection");
			}

		});
		try {
			assertThatExceptionOfType(SQLException.class).isThrownBy(pool::getConnection);
			assertThat(connecting.await(30, TimeUnit.SECONDS)).isTrue();
			Thread.currentThread().interrupt();
			LockPools.close(pool);
			assertThat(Thread.interrupted()).isTrue();
		}
		finally {
			answer.countDown();
			pool.close();
		}
		Awaitility.await()
			.until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().startsWith(name)));
	}

	/**
	 * An outage replaces the pool, and the threads of an application live on.
	 */
	@Test
	void threadsThatUsedAPoolDoNotKeepItWhenItIsClosed() throws Exception {
		try (HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID())) {
			WeakReference<HikariDataSource> closed = usedAndClosed(
					new LockPools(application, JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND)));
			Awaitility.await().until(() -> {
				System.gc();
				return closed.get() == null;
			});
		}
	}

	private static WeakReference<HikariDataSource> usedAndClosed(LockPools pools) throws SQLException {
		HikariDataSource pool = pools.open(1, (config) -> {
		});
		pool.getConnection().close();
		LockPools.close(pool);
		return new WeakReference<>(pool);
	}

	/**
	 * On a slow network a new or idle connection would be taken for dead, whatever the
	 * command timeout.
	 */
	@Test
	void connectionsHaveTimeToAnswerThatFollowsTheCommandTimeout() {
		try (HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID())) {
			assertThat(validationTimeout(application, Duration.ofMillis(100))).isEqualTo(250);
			assertThat(validationTimeout(application, Duration.ofSeconds(1))).isEqualTo(250);
			assertThat(validationTimeout(application, Duration.ofSeconds(8))).isEqualTo(2000);
		}
	}

	private static long validationTimeout(HikariDataSource application, Duration commandTimeout) {
		JdbcLockStoreSettings settings = JdbcLockStoreSettings.defaults().withCommandTimeout(commandTimeout);
		try (HikariDataSource opened = new LockPools(application, settings).open(1, (config) -> {
		})) {
			return opened.getValidationTimeout();
		}
	}

	@Test
	void poolOfTheLocksLeavesTheLoginTimeoutOfTheJvm() {
		int before = DriverManager.getLoginTimeout();
		try (HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID())) {
			DriverManager.setLoginTimeout(42);
			new LockPools(application, JdbcLockStoreSettings.defaults()).open(1, (config) -> {
			}).close();
			assertThat(DriverManager.getLoginTimeout()).isEqualTo(42);
		}
		finally {
			DriverManager.setLoginTimeout(before);
		}
	}

	@Test
	void poolOfTheLocksLeavesTheLoginTimeoutOfADataSource() {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID());
		database.setLoginTimeout(42);
		try (HikariDataSource application = new HikariDataSource()) {
			application.setDataSource(database);
			new LockPools(application, JdbcLockStoreSettings.defaults()).open(1, (config) -> {
			}).close();
			assertThat(database.getLoginTimeout()).isEqualTo(42);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			jdbc:postgresql://db/shop                  | jdbc:postgresql://db/shop?loginTimeout=1.5
			jdbc:postgresql://db/shop?loginTimeout=9   | jdbc:postgresql://db/shop?loginTimeout=9
			jdbc:mariadb://db/shop?useSsl=true         | jdbc:mariadb://db/shop?useSsl=true&connectTimeout=1500
			jdbc:mysql://db/shop                       | jdbc:mysql://db/shop?connectTimeout=1500&socketTimeout=1500
			jdbc:mysql://db/shop?socketTimeout=60000   | jdbc:mysql://db/shop?socketTimeout=60000&connectTimeout=1500
			jdbc:h2:mem:shop                           | jdbc:h2:mem:shop
			""")
	void driversLimitTheLoginOfLockConnections(String url, String expected) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		DriverOptions.limitLogin(config, Duration.ofMillis(1500));
		assertThat(config.getJdbcUrl()).isEqualTo(expected);
		assertThat(config.getDataSourceProperties()).isEmpty();
	}

	/**
	 * As with a data source that leads each thread to the database of its tenant.
	 */
	@Test
	void locksStayInTheDatabaseOfTheirFirstPool() {
		assertThat(databaseAfter((first) -> {
		})).isEqualTo("first");
	}

	/**
	 * As with a data source that is made again with new credentials.
	 */
	@Test
	void poolThatTakesThePlaceOfAClosedOneIsFollowed() {
		assertThat(databaseAfter(HikariDataSource::close)).isEqualTo("second");
	}

	/**
	 * The database of the locks when the data source leads to the second one.
	 * @param change what happens to the first pool before
	 */
	private static String databaseAfter(Consumer<HikariDataSource> change) {
		try (HikariDataSource first = pool("jdbc:h2:mem:first"); HikariDataSource second = pool("jdbc:h2:mem:second")) {
			DelegatingDataSource application = new DelegatingDataSource(first);
			LockPools pools = new LockPools(application, JdbcLockStoreSettings.defaults());
			assertThat(databaseOfNewPool(pools)).isEqualTo("first");
			change.accept(first);
			application.setTargetDataSource(second);
			return databaseOfNewPool(pools);
		}
	}

	private static String databaseOfNewPool(LockPools pools) {
		try (HikariDataSource pool = pools.open(1, (config) -> {
		})) {
			return pool.getJdbcUrl().substring("jdbc:h2:mem:".length());
		}
	}

	@Test
	void settingsThatOnlyTheApplicationNeedsAreNotCopied() {
		try (HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID())) {
			application.setReadOnly(true);
			application.setLeakDetectionThreshold(5000);
			application.setAutoCommit(false);
			application.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
			application.setConnectionInitSql("SELECT 2");
			application.setMinimumIdle(9);
			application.setConnectionTimeout(77_000);
			application.setInitializationFailTimeout(5000);
			try (HikariDataSource pool = new LockPools(application, JdbcLockStoreSettings.defaults()).open(3,
					(config) -> {
					})) {
				assertThat(pool.isReadOnly()).isFalse();
				assertThat(pool.getLeakDetectionThreshold()).isZero();
				assertThat(pool.isAutoCommit()).isTrue();
				assertThat(pool.getTransactionIsolation()).isEqualTo("TRANSACTION_READ_COMMITTED");
				assertThat(pool.getConnectionInitSql()).isNull();
				assertThat(pool.getMaximumPoolSize()).isEqualTo(3);
				assertThat(pool.getMinimumIdle()).isOne();
				assertThat(pool.getConnectionTimeout())
					.isEqualTo(JdbcLockStoreSettings.defaults().commandTimeout().toMillis());
				assertThat(pool.getInitializationFailTimeout()).isNegative();
			}
		}
	}

	/**
	 * Each call would lock in the database of its thread.
	 */
	@Test
	void dataSourceThatRoutesIsRefused() {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected @Nullable Object determineCurrentLookupKey() {
				return null;
			}

		};
		JdbcLockStoreSettings settings = JdbcLockStoreSettings.defaults();
		for (DataSource dataSource : List.of(routing, new LazyConnectionDataSourceProxy(routing),
				new TransactionAwareDataSourceProxy(new DelegatingDataSource(routing)))) {
			for (int poolSize : List.of(settings.poolSize(), 0)) {
				assertThatExceptionOfType(StoreMisconfiguredException.class)
					.isThrownBy(() -> new JdbcLockStore(dataSource, settings.withPoolSize(poolSize)))
					.withMessageContaining("one database")
					.satisfies((ex) -> assertThat(ex.action()).contains("@DlockDataSource"));
			}
		}
	}

	/**
	 * Their pools, which have one name, would take each other's place, with an error in
	 * the log.
	 */
	@Test
	void managedBeansAreOfTheApplicationOnly() throws Exception {
		try (CapturedLog log = CapturedLog.of("com.zaxxer.hikari").from(Level.WARN);
				HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID())) {
			application.setPoolName("shop");
			application.setRegisterMbeans(true);
			application.getConnection().close();
			try (LockConnections locks = new LockConnections(application,
					JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND))) {
				assertThat(locks.<Boolean>execute("test", (dialect, connection) -> true)).isTrue();
				assertThat(ManagementFactory.getPlatformMBeanServer()
					.queryNames(new ObjectName("com.zaxxer.hikari:type=Pool *"), null)).extracting(ObjectName::toString)
					.containsExactly("com.zaxxer.hikari:type=Pool (shop)");
			}
			assertThat(log.messages()).isEmpty();
		}
	}

	/**
	 * Some registries refuse a name that is in use, and others count several pools of one
	 * name as one.
	 */
	@Test
	void metersAreOfTheApplicationOnly() throws SQLException {
		Set<String> names = ConcurrentHashMap.newKeySet();
		try (HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
				JdbcLockStore store = new JdbcLockStore(application,
						JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND))) {
			Pools.createLockTable(application, "h2");
			application.setMetricsTrackerFactory((name, stats) -> {
				assertThat(names.add(name)).as("name %s is new", name).isTrue();
				return new IMetricsTracker() {
				};
			});
			store.verify();
			assertThat(names).containsExactly(application.getPoolName());
		}
	}

	@Test
	void registriesOfMetersAndHealthChecksAreNotCopied() {
		try (HikariDataSource application = pool("jdbc:h2:mem:" + UUID.randomUUID())) {
			application.setMetricRegistry(new SimpleMeterRegistry());
			// its setter needs Dropwizard
			new DirectFieldAccessor(application).setPropertyValue("healthCheckRegistry", new Object());
			try (HikariDataSource pool = new LockPools(application, JdbcLockStoreSettings.defaults()).open(1,
					(config) -> {
					})) {
				assertThat(pool.getMetricRegistry()).isNull();
				assertThat(pool.getHealthCheckRegistry()).isNull();
			}
		}
	}

	/**
	 * Auto-commit would end it.
	 */
	@Test
	void transactionOfTheCallerIsNotTouched() {
		DataSource database = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		JdbcTemplate jdbc = new JdbcTemplate(database);
		jdbc.execute("CREATE TABLE entry (id INT)");
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(database));
		DataSource aware = new TransactionAwareDataSourceProxy(database);
		JdbcLockStoreSettings shared = JdbcLockStoreSettings.defaults().withPoolSize(0);
		for (DataSource dataSource : List.of(aware, new DelegatingDataSource(aware),
				new TransactionAwareDataSourceProxy(aware))) {
			try (LockConnections locks = new LockConnections(dataSource, shared)) {
				transaction.executeWithoutResult((status) -> {
					jdbc.update("INSERT INTO entry VALUES (1)");
					locks.execute("test", (dialect, connection) -> true);
					status.setRollbackOnly();
				});
			}
		}
		assertThat(jdbc.queryForObject("SELECT count(*) FROM entry", Integer.class)).isZero();
	}

	@Test
	void c5MessageHasTheReasonOfTheDriver() {
		try (HikariDataSource application = pool("jdbc:h2:tcp://127.0.0.1:1/nothing");
				JdbcLockStore store = new JdbcLockStore(application,
						JdbcLockStoreSettings.defaults().withCommandTimeout(Duration.ofSeconds(5)))) {
			assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify)
				.withMessageContaining("Connection refused")
				.withMessageNotContaining("request timed out");
		}
	}

}
