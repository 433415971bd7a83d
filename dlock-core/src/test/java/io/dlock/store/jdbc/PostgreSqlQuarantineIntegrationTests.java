package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.Quarantine;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * The quarantine after real promotions and restarts of real servers.
 */
@Timeout(240)
class PostgreSqlQuarantineIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(4);

	private static final Duration LONG = Duration.ofMinutes(10);

	private static final String NOTE = " WHERE lock_key = '!quarantine'";

	private final HikariDataSource pool = Pools.create(PostgresServer.shared());

	private final JdbcClient admin = JdbcClient.create(this.pool);

	private JdbcLockStore store;

	@AfterEach
	void stop() {
		if (this.store != null) {
			this.store.close();
		}
		this.pool.close();
	}

	private void start(Duration longestLease) {
		Pools.createLockTable(this.pool, "postgresql");
		update("DELETE FROM dlock_lock");
		this.store = connected(this.pool, longestLease);
	}

	private void update(String sql) {
		this.admin.sql(sql).update();
	}

	private Map<String, Object> note() {
		return this.admin.sql("SELECT * FROM dlock_lock" + NOTE).query().singleRow();
	}

	private static JdbcLockStoreSettings settings(Duration longestLease) {
		return JdbcLockStoreSettings.defaults()
			.withCommandTimeout(Patience.COMMAND)
			.withQuarantine(new Quarantine(longestLease, Duration.ZERO));
	}

	private static JdbcLockStore store(DataSource dataSource, Duration longestLease) {
		return new JdbcLockStore(dataSource, settings(longestLease));
	}

	private static JdbcLockStore careless(DataSource dataSource) {
		return new JdbcLockStore(dataSource, JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	private static JdbcLockStore connected(DataSource dataSource, Duration longestLease) {
		return Patience.connected(store(dataSource, longestLease));
	}

	private static AcquireCommand command(String key, String owner) {
		return new AcquireCommand(key, owner, LEASE, "holder", "");
	}

	private static AcquireResult acquire(JdbcLockStore store, String key, String owner) {
		return store.acquire(command(key, owner));
	}

	private static void granted(JdbcLockStore store, AcquireCommand command) {
		assertThat(store.acquire(command)).isInstanceOf(AcquireResult.Granted.class);
	}

	private static void granted(JdbcLockStore store, String key, String owner) {
		granted(store, command(key, owner));
	}

	private static Duration quarantined(JdbcLockStore store, AcquireCommand command) {
		StoreQuarantinedException refusal = catchThrowableOfType(StoreQuarantinedException.class,
				() -> store.acquire(command));
		assertThat(refusal).as("the answer to " + command.owner()).isNotNull();
		assertThat(refusal.effect()).isEqualTo(Effect.NONE);
		assertThat(refusal.isLasting()).isFalse();
		return refusal.remaining();
	}

	private static Duration quarantined(JdbcLockStore store, String key, String owner) {
		return quarantined(store, command(key, owner));
	}

	private static void grantedAtLast(JdbcLockStore store, String key, String owner) {
		Awaitility.await()
			.ignoreException(StoreQuarantinedException.class)
			.until(() -> acquire(store, key, owner) instanceof AcquireResult.Granted);
	}

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
	 * A holder renews its lock on the new primary, and its lease is over on the former
	 * one, which would grant the lock.
	 */
	@Test
	void formerPrimaryThatMayAnswerIsRefused() {
		try (JdbcLockStore careless = new JdbcLockStore(this.pool,
				settings(LEASE).withQuarantine(new Quarantine(LEASE, Duration.ofMillis(1))))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(careless::verify)
				.withMessageContaining("for another 1 ms")
				.satisfies((ex) -> assertThat(ex.action()).contains("dlock.failover.max-lag=0s"));
		}
	}

	/**
	 * The standby is promoted on the connections of its clients, and has nothing that the
	 * primary answered since the network between the two was cut: neither locks nor, for
	 * table {@code late}, the note. The locks have leases that no pause of the machine
	 * ends, which a store with a quarantine would refuse.
	 */
	@Test
	void promotedStandbyGrantsNoLockThatTheFormerPrimaryGranted() throws SQLException {
		try (PostgresServer primary = PostgresServer.start();
				TcpProxy replication = TcpProxy.to(primary.host(), primary.port());
				HikariDataSource before = Pools.create(primary)) {
			Pools.createLockTable(before, "postgresql");
			JdbcClient.create(before).sql("CREATE TABLE late (LIKE dlock_lock INCLUDING ALL)").update();
			try (PostgresServer standby = primary.startStandby(replication.port(), Map.of());
					HikariDataSource after = Pools.create(standby);
					JdbcLockStore former = connected(before, LEASE);
					JdbcLockStore promoted = store(after, LEASE);
					JdbcLockStore holder = careless(before);
					JdbcLockStore careless = careless(after)) {
				grantedAtLast(former, "first", "first");
				granted(holder, new AcquireCommand("known", "known", LONG, "holder", ""));
				granted(holder, new AcquireCommand("shared", "+known", LONG, "holder", ""));
				Awaitility.await()
					.untilAsserted(() -> assertThat(promoted.find("shared")).as("before the promotion").isPresent());
				replication.close();
				for (String forgotten : List.of("b", "+c")) {
					granted(former, forgotten, forgotten);
				}
				granted(holder, new AcquireCommand("a", "a", LONG, "holder", ""));
				long granted = System.nanoTime();
				JdbcClient.create(after).sql("SELECT pg_promote()").query().singleRow();
				granted(careless, "a", "without a quarantine");
				assertThat(former.renew(List.of(new RenewCommand("a", "a", LEASE)))).as("granted twice")
					.containsExactly(RenewResult.RENEWED);
				quarantined(promoted, "b", "b2");
				quarantined(promoted, "+c", "+c2");
				quarantined(promoted, "known", "known");
				assertThat(JdbcClient.create(after)
					.sql("SELECT holder FROM dlock_lock" + NOTE)
					.query(String.class)
					.single()).as("the era").startsWith("00000002 ");
				try (JdbcLockStore late = new JdbcLockStore(after, settings(LONG).withTable("late"))) {
					quarantined(late, "a", "a2");
				}
				assertThat(promoted.renew(List.of(new RenewCommand("known", "known", LONG),
						new RenewCommand("shared", "+known", LONG), new RenewCommand("b", "b", LONG))))
					.containsExactly(RenewResult.RENEWED, RenewResult.RENEWED, RenewResult.REFUSED);
				assertThat(promoted.release("known", "known")).isTrue();
				assertThat(promoted.release("shared", "+known")).isTrue();
				grantedAtLast(promoted, "b", "b2");
				assertThat(System.nanoTime() - granted).isGreaterThan(LEASE.toNanos());
			}
		}
	}

	/**
	 * A copy of its files may be started without a promotion, and a disk may forget.
	 */
	@Test
	void restartedServerGrantsNoLock() {
		try (PostgresServer server = PostgresServer.start(); HikariDataSource client = Pools.create(server)) {
			Pools.createLockTable(client, "postgresql");
			try (JdbcLockStore restarted = connected(client, LEASE)) {
				grantedAtLast(restarted, "a", "a");
				server.kill();
				server.restart();
				Awaitility.await().untilAsserted(() -> quarantined(restarted, "b", "b"));
				grantedAtLast(restarted, "b", "b");
			}
		}
	}

	/**
	 * A note that came with the data of another server, an old one, and none.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "UPDATE dlock_lock SET holder = '0' || substr(holder, 1, 7) || substr(holder, 9)",
			"UPDATE dlock_lock SET holder = holder || '1'", "DELETE FROM dlock_lock" })
	void noteOfAnotherHistoryBeginsAQuarantine(String change) {
		start(LEASE);
		grantedAtLast(this.store, "a", "a");
		update(change + NOTE);
		quarantined(this.store, "b", "b");
		quarantined(this.store, "a", "a");
		assertThat(this.store.renew(List.of(new RenewCommand("a", "a", LEASE)))).containsExactly(RenewResult.RENEWED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "+a", "b" })
	void noKindOfOwnerIsGranted(String owner) {
		start(LONG);
		String other = owner.startsWith("+") ? "exclusive" : "+shared";
		Quarantine none = null;
		try (JdbcLockStore free = new JdbcLockStore(this.pool, settings(LONG).withQuarantine(none))) {
			granted(free, "taken", other);
			granted(free, "own", owner);
			quarantined(this.store, "free", owner);
			quarantined(this.store, "taken", owner);
			quarantined(this.store, "own", owner);
			quarantined(this.store, new AcquireCommand("taken", owner, LEASE, "holder", "", null, false, other, 1));
			assertThat(free.find("free")).isEmpty();
			assertThat(free.find("own")).isPresent();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "+a", "b" })
	void lockThatIsKnownEndsAndItsQueueIsLeftInAQuarantine(String owner) {
		start(LONG);
		MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));
		Quarantine none = null;
		try (JdbcLockStore free = new JdbcLockStore(this.pool, settings(LONG).withQuarantine(none))) {
			granted(free, "known", owner);
			assertThat(free.acquire(new AcquireCommand("known", "c", LEASE, "holder", "", mailbox, true, null)))
				.isInstanceOf(AcquireResult.Refused.class);
			quarantined(this.store, "known", "c");
			this.store.leave("known", mailbox);
			long token = free.find("known").orElseThrow().token();
			assertThat(this.store.inspection().forceRelease("known", token)).isTrue();
			granted(free, "known", "d");
		}
	}

	@Test
	void severalKeysAreNotGranted() {
		start(LONG);
		this.store.sweep();
		assertThat(this.store.supportsBatches()).isTrue();
		assertThat(this.store.acquireAll(List.of(command("a", "a"), command("b", "b")))).hasSize(2)
			.allSatisfy((result) -> assertThat(result).isInstanceOfSatisfying(AcquireResult.Failed.class,
					(failed) -> assertThat(failed.failure()).isInstanceOf(StoreQuarantinedException.class)));
		update("UPDATE dlock_lock SET token = 0" + NOTE);
		granted(this.store, "b", "other");
		assertThat(this.store.acquireAll(List.of(command("a", "a"), command("b", "b"), command("c", "c"))))
			.hasExactlyElementsOfTypes(AcquireResult.Granted.class, AcquireResult.Refused.class,
					AcquireResult.Granted.class);
	}

	@Test
	void parametersWithoutATypeAreTaken() {
		start(LONG);
		update("UPDATE dlock_lock SET token = 0" + NOTE);
		TestDatabase untyped = TestDatabase.postgreSql().with("stringtype=unspecified");
		try (HikariDataSource client = untyped.pool(); JdbcLockStore free = store(client, LONG)) {
			granted(free, "a", "a");
			granted(free, "b", "+b");
			granted(free, "b", "+b");
			assertThat(free.acquireAll(List.of(command("c", "c"), command("d", "d"))))
				.hasOnlyElementsOfType(AcquireResult.Granted.class);
		}
	}

	/**
	 * As behind a pooler that leads the next statement to another server.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void memberIsNotGrantedIfTheHistoryChangesAfterTheRecordWasRead(boolean exists) {
		start(LONG);
		update("UPDATE dlock_lock SET token = 0" + NOTE);
		if (exists) {
			granted(this.store, "a", "+a");
		}
		try (JdbcLockStore racing = store(
				new RacingDataSource(this.pool, () -> update("UPDATE dlock_lock SET holder = ''" + NOTE)), LONG)) {
			quarantined(racing,
					new AcquireCommand("a", "+b", LEASE, "holder", "", null, false, null, AcquireCommand.UNLIMITED));
		}
		assertThat(this.store.find("a").isPresent()).isEqualTo(exists);
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

}
