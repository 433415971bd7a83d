package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.test.MariaDbServer;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A primary that is made a standby without a restart keeps its connections, while the
 * address leads to the new primary.
 */
class DemotedDatabaseIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	/** Shorter than with one new connection in each timeout. */
	private static final Duration LIMIT = TIMEOUT.multipliedBy(8);

	private static final int CONNECTIONS = 10;

	private static final Duration LEASE = Duration.ofSeconds(20);

	@Test
	void d2LocksAreBackWithinThreeTimeoutsOnPostgreSql() throws Exception {
		PostgresServer next = PostgresServer.shared();
		try (PostgresServer old = PostgresServer.start();
				TcpProxy proxy = TcpProxy.to(old.host(), old.port());
				HikariDataSource oldAdmin = Pools.create(old);
				HikariDataSource nextAdmin = Pools.create(next)) {
			for (HikariDataSource admin : List.of(oldAdmin, nextAdmin)) {
				Pools.createLockTable(admin, "postgresql");
			}
			try (HikariDataSource application = Pools.create(old.jdbcUrl(proxy.port()), old.username(),
					old.password())) {
				followsThePrimary(application, () -> demote(oldAdmin), () -> proxy.redirect(next.host(), next.port()));
			}
		}
	}

	@Test
	void d6MessagesFollowThePrimary() throws Exception {
		PostgresServer next = PostgresServer.shared();
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (PostgresServer old = PostgresServer.start();
				TcpProxy proxy = TcpProxy.to(old.host(), old.port());
				HikariDataSource oldAdmin = Pools.create(old);
				HikariDataSource nextAdmin = Pools.create(next)) {
			for (HikariDataSource admin : List.of(oldAdmin, nextAdmin)) {
				Pools.createLockTable(admin, "postgresql");
			}
			try (HikariDataSource application = Pools.create(old.jdbcUrl(proxy.port()), old.username(), old.password());
					JdbcLockStore store = new JdbcLockStore(application,
							JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
					Mailbox mailbox = store.openMailbox(address, told::add)) {
				assertThat(mailbox).isNotNull();
				demote(oldAdmin);
				proxy.redirect(next.host(), next.port());
				Awaitility.await()
					.atMost(Duration.ofSeconds(60))
					.ignoreException(StoreException.class)
					.until(() -> isTurnTold(store, address, told));
			}
		}
	}

	private static boolean isTurnTold(JdbcLockStore store, MailboxAddress address, List<String> told) {
		String key = "demoted/" + UUID.randomUUID();
		assertThat(store.acquire(new AcquireCommand(key, "a", LEASE, "", ""))).isInstanceOf(Granted.class);
		store.acquire(new AcquireCommand(key, "b", LEASE, "", "", address, true, null));
		assertThat(store.release(key, "a")).isTrue();
		try {
			Awaitility.await().atMost(Duration.ofMillis(500)).until(() -> told.contains(key));
			return true;
		}
		catch (ConditionTimeoutException ex) {
			return false;
		}
	}

	/**
	 * Each of its connections leads to the old primary.
	 */
	@Test
	void d2LocksAreBackWithinThreeTimeoutsOnThePoolOfTheApplication() throws Exception {
		PostgresServer next = PostgresServer.shared();
		try (PostgresServer old = PostgresServer.start();
				TcpProxy proxy = TcpProxy.to(old.host(), old.port());
				HikariDataSource oldAdmin = Pools.create(old);
				HikariDataSource nextAdmin = Pools.create(next);
				HikariDataSource application = Pools.create(old.jdbcUrl(proxy.port()), old.username(), old.password());
				JdbcLockStore store = new JdbcLockStore(application,
						JdbcLockStoreSettings.defaults().withPoolSize(0).withCommandTimeout(TIMEOUT))) {
			for (HikariDataSource admin : List.of(oldAdmin, nextAdmin)) {
				Pools.createLockTable(admin, "postgresql");
			}
			application.setMaximumPoolSize(CONNECTIONS);
			application.setMinimumIdle(CONNECTIONS);
			Patience.connected(store);
			Awaitility.await().until(() -> application.getHikariPoolMXBean().getTotalConnections() == CONNECTIONS);
			demote(oldAdmin);
			Awaitility.await().untilAsserted(() -> assertThat(renewTogether(store)).contains(RenewResult.UNKNOWN));
			proxy.redirect(next.host(), next.port());
			withinThreeTimeouts(() -> assertThat(renewTogether(store)).containsOnly(RenewResult.REFUSED));
		}
	}

	/**
	 * On a busy machine new connections take longer, but less than one timeout each.
	 */
	private static void withinThreeTimeouts(ThrowingRunnable assertion) {
		try (MachineWatch watch = MachineWatch.start()) {
			long begin = System.nanoTime();
			Awaitility.await().atMost(LIMIT).untilAsserted(assertion);
			Duration time = Duration.ofNanos(System.nanoTime() - begin);
			assertThat(time).isLessThan(watch.isLate() ? LIMIT : TIMEOUT.multipliedBy(3));
		}
	}

	private static List<RenewResult> renewTogether(JdbcLockStore store) {
		List<CompletableFuture<RenewResult>> results = IntStream.range(0, CONNECTIONS)
			.mapToObj((i) -> CompletableFuture.supplyAsync(
					() -> store.renew(List.of(new RenewCommand("demoted/" + i, "a", LEASE))).get(0),
					(task) -> new Thread(task).start()))
			.toList();
		return results.stream().map(CompletableFuture::join).toList();
	}

	private static void demote(HikariDataSource admin) {
		run(admin, "ALTER SYSTEM SET default_transaction_read_only = on");
		JdbcClient.create(admin).sql("SELECT pg_reload_conf()").query().listOfRows();
	}

	@Test
	void d2LocksAreBackWithinThreeTimeoutsOnMariaDb() throws Exception {
		MariaDbServer next = MariaDbServer.shared();
		try (MariaDbServer old = MariaDbServer.start();
				TcpProxy proxy = TcpProxy.to(old.host(), old.port());
				HikariDataSource oldAdmin = Pools.create(old);
				HikariDataSource nextAdmin = Pools.create(next)) {
			for (HikariDataSource admin : List.of(oldAdmin, nextAdmin)) {
				Pools.createLockTable(admin, "mysql");
				run(admin, "CREATE USER IF NOT EXISTS demoted@'%' IDENTIFIED BY 'shop'");
				run(admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_test.* TO demoted@'%'");
			}
			for (String url : List.of(old.mariaDbUrl(proxy.port()), old.mysqlUrl(proxy.port()))) {
				run(oldAdmin, "SET GLOBAL read_only = 0");
				proxy.redirect(old.host(), old.port());
				try (HikariDataSource application = Pools.create(url, "demoted", "shop")) {
					followsThePrimary(application, () -> run(oldAdmin, "SET GLOBAL read_only = 1"),
							() -> proxy.redirect(next.host(), next.port()));
				}
			}
		}
	}

	private void followsThePrimary(HikariDataSource application, Runnable demotion, Runnable failover)
			throws Exception {
		try (JdbcLockStore store = new JdbcLockStore(application,
				JdbcLockStoreSettings.defaults().withCommandTimeout(TIMEOUT))) {
			Awaitility.await().ignoreException(StoreException.class).untilAsserted(store::verify);
			RenewCommand held = new RenewCommand("demoted/held", "a", LEASE);
			acquire(store, held.key());
			demotion.run();
			Awaitility.await()
				.untilAsserted(() -> assertThat(store.renew(List.of(held))).containsExactly(RenewResult.UNKNOWN));
			failover.run();
			withinThreeTimeouts(() -> assertThat(store.renew(List.of(held))).containsExactly(RenewResult.REFUSED));
			acquire(store, "demoted/free");
		}
	}

	private static void acquire(JdbcLockStore store, String key) {
		assertThat(store.acquire(new AcquireCommand(key, "a", LEASE, "", ""))).isInstanceOf(Granted.class);
		assertThat(store.release(key, "a")).isTrue();
	}

	private static void run(HikariDataSource admin, String sql) {
		JdbcClient.create(admin).sql(sql).update();
	}

}
