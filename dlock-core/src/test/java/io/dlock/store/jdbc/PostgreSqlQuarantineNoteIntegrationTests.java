package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.CapturedLog;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The note that processes share about a quarantine, and its checks at the start.
 */
class PostgreSqlQuarantineNoteIntegrationTests extends AbstractPostgreSqlQuarantineTests {

	@Test
	void firstUseWaitsForTheLongestLeaseAndTheLag() {
		start(LEASE);
		long begin = System.nanoTime();
		Duration first = quarantined(this.store, "a", "a");
		assertThat(first).isLessThanOrEqualTo(LEASE);
		assertThat(this.store.quarantine()).hasValueSatisfying((rest) -> assertThat(rest).isPositive());
		grantedAtLast(this.store, "a", "a");
		assertThat(System.nanoTime() - begin).isGreaterThan(first.toNanos() - TimeUnit.MILLISECONDS.toNanos(50));
		assertThat(acquire(this.store, "a", "b")).isInstanceOf(AcquireResult.Refused.class);
		assertThat(this.store.release("a", "a")).isTrue();
		granted(this.store, "a", "b");
		Awaitility.await().untilAsserted(() -> assertThat(this.store.quarantine()).hasValue(Duration.ZERO));
	}

	/**
	 * Another process has noted this era some time ago, after a statement saw no note and
	 * before it writes one.
	 */
	@Test
	void oneOfSeveralProcessesBeginsTheQuarantine() throws Exception {
		start(LONG);
		update("UPDATE dlock_lock SET token = token - 300000000" + NOTE);
		update("CREATE TABLE IF NOT EXISTS noted AS SELECT * FROM dlock_lock WHERE FALSE");
		update("DELETE FROM noted");
		update("INSERT INTO noted SELECT * FROM dlock_lock" + NOTE);
		update("DELETE FROM dlock_lock");
		try (Connection other = this.pool.getConnection(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("INSERT INTO dlock_lock SELECT * FROM noted");
			CompletableFuture<Duration> waiting = CompletableFuture
				.supplyAsync(() -> quarantined(this.store, "a", "a"));
			Awaitility.await()
				.until(() -> this.admin.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
					.query(Integer.class)
					.single() > 0);
			other.commit();
			assertThat(waiting.get()).isLessThan(LONG.minusMinutes(4));
		}
	}

	@Test
	void processesShareOneQuarantine() {
		start(LONG);
		Duration first = quarantined(this.store, "a", "a");
		try (JdbcLockStore late = store(this.pool, LONG)) {
			assertThat(quarantined(late, "a", "b")).isLessThanOrEqualTo(first);
			assertThat(quarantined(this.store, "a", "b")).isLessThanOrEqualTo(first);
		}
	}

	/**
	 * A longer lease of another process counts, although both should name the same.
	 */
	@Test
	void longestLeaseThatIsNotedCounts() {
		start(LEASE);
		grantedAtLast(this.store, "a", "a");
		try (JdbcLockStore longer = store(this.pool, LONG)) {
			granted(longer, "a", "a");
			assertThat(note()).containsEntry("renewals", TimeUnit.MICROSECONDS.convert(LONG));
			granted(this.store, "a", "a");
			update("UPDATE dlock_lock SET token = token + 2 * renewals" + NOTE);
			assertThat(quarantined(this.store, "a", "b")).isGreaterThan(LONG.minusMinutes(1));
			update("UPDATE dlock_lock SET holder = ''" + NOTE);
			assertThat(quarantined(this.store, "a", "b")).as("in the next era").isLessThanOrEqualTo(LEASE);
			assertThat(quarantined(longer, "a", "b")).isGreaterThan(LONG.minusMinutes(1));
		}
	}

	/**
	 * The clock of the server was set back.
	 */
	@Test
	void quarantineEndsAlthoughItsEndIsFarAway() {
		start(LEASE);
		update("UPDATE dlock_lock SET token = 9000000000000000" + NOTE);
		assertThat(quarantined(this.store, "a", "b")).isLessThanOrEqualTo(LEASE);
	}

	@Test
	void noteIsNoLockAndIsNotSwept() {
		start(LEASE);
		assertThat(this.store.inspection().list(10).locks()).isEmpty();
		assertThat(this.admin.sql("SELECT lease_until > now() + interval '1000 years' FROM dlock_lock" + NOTE)
			.query(Boolean.class)
			.single()).isTrue();
	}

	@Test
	void leaseBeyondTheLongestIsRefused() {
		start(LEASE);
		AcquireCommand command = new AcquireCommand("a", "a", LEASE.plusMillis(1), "holder", "");
		for (Runnable acquire : List.<Runnable>of(() -> this.store.acquire(command),
				() -> this.store.acquireAll(List.of(command)))) {
			assertThatIllegalArgumentException().isThrownBy(acquire::run)
				.withMessageContaining("A lease of 4001 ms is longer than the longest lease of 4000 ms");
		}
	}

	@Test
	void quarantineIsLoggedOnce() {
		try (CapturedLog log = CapturedLog.of(LockConnections.class)) {
			start(LONG);
			IntStream.range(0, 20).forEach((i) -> quarantined(this.store, "key" + i, "a"));
			assertThat(log.messages()).singleElement()
				.asString()
				.contains("has failed over or restarted: no lock is granted for");
		}
	}

	@Test
	void databaseWithoutAHistoryFailsTheStart() {
		Map<TestDatabase, String> reasons = Map.of(TestDatabase.h2(), "H2 has no failover", TestDatabase.mariaDb(),
				"a promotion leaves no mark on MariaDB");
		reasons.forEach((database, reason) -> {
			try (HikariDataSource client = database.pool(); JdbcLockStore refused = store(client, LEASE)) {
				Pools.createLockTable(client, database.platform());
				assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(refused::verify)
					.withMessageContaining(reason)
					.withMessageContaining("Use PostgreSQL or Redis for the locks");
			}
		});
	}

	/**
	 * A crash of one session would make the server forget, in the same run.
	 */
	@Test
	void sessionThatDoesNotWaitForTheDiskFailsTheStart() {
		start(LEASE);
		try (HikariDataSource careless = Pools.create(
				PostgresServer.shared().jdbcUrl() + "?options=-c%20synchronous_commit=off",
				PostgresServer.shared().username(), PostgresServer.shared().password());
				JdbcLockStore refused = new JdbcLockStore(careless, settings(LEASE).withPoolSize(0))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(refused::verify)
				.withMessageContaining("synchronous_commit is off");
		}
	}

	@Test
	void userWithoutTheRightToAskForTheHistoryFailsTheStart() {
		try (PostgresServer server = PostgresServer.start(); HikariDataSource owner = Pools.create(server)) {
			Pools.createLockTable(owner, "postgresql");
			for (String sql : List.of("CREATE ROLE shop LOGIN PASSWORD 'secret'", "GRANT ALL ON dlock_lock TO shop",
					"REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC")) {
				JdbcClient.create(owner).sql(sql).update();
			}
			try (HikariDataSource shop = Pools.create(server.jdbcUrl(), "shop", "secret");
					JdbcLockStore refused = store(shop, LEASE)) {
				assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(refused::verify)
					.withMessageContaining("does not tell the user of the locks its history")
					.withMessageContaining("Grant the user EXECUTE on pg_walfile_name");
				JdbcClient.create(owner).sql("GRANT EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) TO PUBLIC").update();
				refused.verify();
				quarantined(refused, "a", "a");
			}
		}
	}

	/**
	 * Locks with the longer lease may have been granted before.
	 */
	@Test
	void longerLeaseExtendsAQuarantineThatHasBegun() {
		start(LONG);
		assertThat(quarantined(this.store, "a", "a")).isLessThanOrEqualTo(LONG);
		try (JdbcLockStore longer = store(this.pool, LONG.multipliedBy(2))) {
			assertThat(quarantined(longer, "a", "a")).isGreaterThan(LONG.multipliedBy(2).minusMinutes(4));
			assertThat(quarantined(this.store, "a", "a")).isGreaterThan(LONG);
		}
	}

}
