package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.TcpProxy;
import io.dlock.test.TestDatabase;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Situations that all databases have, on PostgreSQL, and its answers to rows that other
 * sessions have locked.
 */
class PostgreSqlLockStoreIntegrationTests extends AbstractServerLockStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.postgreSql();
	}

	@Override
	int roundTrips() {
		return 2;
	}

	@Override
	void moveLeases(int days) throws SQLException {
		execute("UPDATE dlock_lock SET lease_until = lease_until + %d * interval '1 day'".formatted(days));
	}

	/**
	 * A proxy in front of a primary and its replicas lets replicas answer statements that
	 * only read.
	 */
	@Test
	void readsThatDecideGoToThePrimary() {
		BoundValues observed = new BoundValues();
		JdbcLockStore store = new JdbcLockStore(observed.observe(application()), settings().withPoolSize(0));
		store.find(key());
		int before = observed.executions().size();
		granted(store.acquire(new AcquireCommand(key(), "+a", LEASE, "holder", "")));
		store.acquire(new AcquireCommand(key(), "b", LEASE, "holder", ""));
		store.renew(List.of(new RenewCommand(key(), "+a", LEASE)));
		store.release(key(), "+a");
		assertThat(observed.executions().subList(before, observed.executions().size()))
			.filteredOn((sql) -> sql.startsWith("SELECT") || sql.startsWith("WITH held"))
			.hasSizeGreaterThan(2)
			.allSatisfy((sql) -> assertThat(sql.strip()).endsWith("FOR UPDATE"));
	}

	/**
	 * The lease counts from when the row is had, not from when it was waited for.
	 */
	@Test
	void r37LeaseStartsAfterTheWaitForTheRow() throws Exception {
		granted(acquire("before", LEASE));
		store().release(key(), "before");
		CompletableFuture<AcquireResult> waiting;
		long unblocked;
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.execute("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "' FOR UPDATE");
			waiting = CompletableFuture.supplyAsync(() -> acquire("a", LEASE));
			long start = System.nanoTime();
			Awaitility.await()
				.pollInterval(Duration.ofMillis(100))
				.until(() -> System.nanoTime() - start > Duration.ofMillis(900).toNanos());
			unblocked = System.nanoTime();
			blocker.commit();
		}
		assertThatLeaseIsNew(unblocked, waiting::join);
	}

	/**
	 * A change of the table waits for a backup, and everything else waits for the change.
	 */
	@Test
	void r28FirstCallToATableThatIsLockedEnds() throws Exception {
		execute("CREATE TABLE IF NOT EXISTS dlock_locked (LIKE dlock_lock INCLUDING ALL)");
		JdbcLockStore store = new JdbcLockStore(application(),
				settings().withTable("dlock_locked").withCommandTimeout(Duration.ofMillis(500)));
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.execute("LOCK TABLE dlock_locked IN ACCESS EXCLUSIVE MODE");
			for (int i = 0; i < 3; i++) {
				assertThat(CompletableFuture.supplyAsync(() -> store.find(key()))).failsWithin(Patience.EVENTUALLY)
					.withThrowableThat()
					.withCauseInstanceOf(StoreException.class);
			}
			assertThat(JdbcClient.create(application())
				.sql("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'dlock_locked'::regclass")
				.query(Integer.class)
				.single()).as("sessions that go on waiting").isZero();
			assertThat(CompletableFuture.runAsync(store::close)).succeedsWithin(Patience.EVENTUALLY);
			blocker.rollback();
		}
	}

	@Test
	void r6RenewalThatWaitedForTheRowDoesNotShortenTheLease() throws Exception {
		granted(acquire("a", LEASE));
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.execute("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "' FOR UPDATE");
			CompletableFuture<RenewResult> renewed = CompletableFuture
				.supplyAsync(() -> renew("a", Duration.ofSeconds(5)));
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> renewed.get(300, TimeUnit.MILLISECONDS));
			blocker.commit();
			assertThat(renewed.get()).isEqualTo(RenewResult.RENEWED);
		}
		assertThat(acquire("b", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isGreaterThan(Duration.ofSeconds(10)));
	}

	/**
	 * The statement for many leases leaves a locked row to that for one.
	 */
	@Test
	void r16RenewalThatWaitedForTheRowOfAnotherOwnerIsRefused() throws Exception {
		granted(acquire("a", LEASE));
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.execute("UPDATE dlock_lock SET owner = 'b' WHERE lock_key = '" + key() + "'");
			CompletableFuture<RenewResult> renewed = CompletableFuture
				.supplyAsync(() -> renew("a", LEASE.multipliedBy(2)));
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> renewed.get(300, TimeUnit.MILLISECONDS));
			blocker.commit();
			assertThat(renewed.get()).isEqualTo(RenewResult.REFUSED);
		}
		assertThat(acquire("c", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isLessThanOrEqualTo(LEASE));
	}

	@Test
	void r34RowThatAnOperatorLocksBlocksForALimitedTime() throws Exception {
		granted(acquire("before", LEASE));
		store().release(key(), "before");
		try (JdbcLockStore impatient = impatientStore(application());
				Connection blocker = application().getConnection();
				Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.execute("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "' FOR UPDATE");
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> impatient.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")))
				.satisfies((ex) -> assertThat(ex.isPermanent()).isFalse());
			blocker.rollback();
		}
		granted(acquire("b", LEASE));
	}

	private static boolean isWorking(JdbcLockStore store) {
		store.verify();
		return true;
	}

	/**
	 * Without prepared statements, as behind some poolers, the driver writes the values
	 * into the text.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "preferQueryMode=simple", "preferQueryMode=extendedForPrepared",
			"preferQueryMode=extendedCacheEverything", "prepareThreshold=0", "binaryTransfer=false" })
	void locksWorkInEachQueryMode(String mode) {
		assertThatLocksWorkWith(mode);
	}

	/**
	 * A pool that is empty for two command timeouts is replaced, while calls wait for
	 * their slots.
	 */
	@Test
	void callThatWaitedForItsSlotUsesTheNewPool() throws Exception {
		Queue<String> failures = new ConcurrentLinkedQueue<>();
		AtomicBoolean stopped = new AtomicBoolean();
		try (TcpProxy proxy = TcpProxy.to(this.database.host(), this.database.port());
				JdbcLockStore store = new JdbcLockStore(pool(this.database.url(proxy.port())),
						settings().withCommandTimeout(SHORT_TIMEOUT.dividedBy(2)))) {
			Patience.connected(store);
			proxy.refuse(true);
			proxy.cutAll();
			List<CompletableFuture<Void>> callers = IntStream.range(0, 40)
				.mapToObj((i) -> CompletableFuture.runAsync(() -> fail(store, failures, stopped),
						(task) -> new Thread(task, "caller").start()))
				.toList();
			Awaitility.await().during(SHORT_TIMEOUT.multipliedBy(6)).until(() -> true);
			stopped.set(true);
			assertThat(callers).allSatisfy((caller) -> assertThat(caller).succeedsWithin(Patience.EVENTUALLY));
		}
		assertThat(failures).hasSizeGreaterThan(40).noneMatch((message) -> message.contains("is closed"));
	}

	private void fail(JdbcLockStore store, Queue<String> failures, AtomicBoolean stopped) {
		while (!stopped.get()) {
			try {
				store.release(key(), "owner");
			}
			catch (StoreException ex) {
				failures.add(String.valueOf(ex.getMessage()));
			}
		}
	}

	/**
	 * The pool would not try again for five seconds by then.
	 */
	@Test
	@Timing
	void databaseThatComesBackIsUsedWithinThreeTimeouts() throws Exception {
		try (TcpProxy proxy = TcpProxy.to(this.database.host(), this.database.port());
				JdbcLockStore store = impatientStore(pool(this.database.url(proxy.port())));
				MachineWatch machine = MachineWatch.start()) {
			proxy.refuse(true);
			proxy.cutAll();
			long down = System.nanoTime();
			while (System.nanoTime() - down < Duration.ofMillis(5300).toNanos()) {
				assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify);
			}
			proxy.refuse(false);
			assertThat(machine.time(() -> Awaitility.await()
				.ignoreException(StoreException.class)
				.until(() -> isWorking(store), (working) -> working))).isLessThan(SHORT_TIMEOUT.multipliedBy(3));
		}
	}

}
