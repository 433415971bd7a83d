package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.TcpProxy;
import io.dlock.test.TestDatabase;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

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
		granted(store.acquire(new AcquireCommand(key(), "+a", LEASE, "holder", "")));
		store.acquire(new AcquireCommand(key(), "b", LEASE, "holder", ""));
		store.renew(List.of(new RenewCommand(key(), "+a", LEASE)));
		store.release(key(), "+a");
		assertThat(observed.executions()).filteredOn((sql) -> sql.startsWith("SELECT") || sql.startsWith("WITH held"))
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
				.satisfies((ex) -> assertThat(ex.isLasting()).isFalse());
			blocker.rollback();
		}
		granted(acquire("b", LEASE));
	}

	@Test
	void r39CommitsAreDurableWhateverTheDefaultOfTheDatabase() throws SQLException {
		try (HikariDataSource careless = pool(this.database.url() + "?options=-c%20synchronous_commit=off")) {
			JdbcLockStore store = new JdbcLockStore(careless, settings());
			store.verify();
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			assertThat(ownSetting(store, "synchronous_commit")).isEqualTo("on");
			assertThat(ownSetting(store, "lock_timeout")).as("a little less than the client waits").isEqualTo("16s");
			store.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void commitsWaitForWhatTheSettingsSay(SynchronousCommit level) throws SQLException {
		try (HikariDataSource application = pool(this.database.url());
				JdbcLockStore store = new JdbcLockStore(application, settings().withSynchronousCommit(level))) {
			store.verify();
			assertThat(ownSetting(store, "synchronous_commit"))
				.isEqualTo((level == SynchronousCommit.DEFAULT) ? "on" : level.name().toLowerCase(Locale.ROOT));
			assertThat(store.inspection().diagnose().warnings())
				.filteredOn((warning) -> warning.contains("no lock waits for a standby"))
				.hasSize(level.name().startsWith("REMOTE") ? 1 : 0);
		}
	}

	@Test
	void connectionsOfTheApplicationKeepTheirSynchronousCommit() {
		try (JdbcLockStore store = new JdbcLockStore(application(),
				settings().withPoolSize(0).withSynchronousCommit(SynchronousCommit.REMOTE_APPLY))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("is for the locks' own connections")
				.withMessageContaining("dlock.jdbc.pool-size");
		}
	}

	private static String ownSetting(JdbcLockStore store, String name) {
		return store.connections().execute("show", (dialect, connection) -> {
			try (Statement statement = connection.createStatement(); var row = statement.executeQuery("SHOW " + name)) {
				row.next();
				return row.getString(1);
			}
		});
	}

	@Test
	void readOnlyDatabaseRefusesAndIsNotBusy() {
		try (HikariDataSource readOnly = pool(this.database.url() + "?options=-c%20default_transaction_read_only=on")) {
			JdbcLockStore store = new JdbcLockStore(readOnly, settings());
			assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify)
				.withMessageContaining("read-only")
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(StoreException.Effect.NONE));
			store.close();
		}
	}

	@Test
	void tableInAnotherSchemaMayBeNamed() throws SQLException {
		execute("CREATE SCHEMA IF NOT EXISTS locks");
		execute("CREATE TABLE IF NOT EXISTS locks.dlock_lock (LIKE dlock_lock INCLUDING ALL)");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("locks.dlock_lock"));
		store.verify();
		granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
		assertThat(store().find(key())).isEmpty();
		assertThat(store.find(key())).isPresent();
		store.close();
	}

	private static boolean isWorking(JdbcLockStore store) {
		store.verify();
		return true;
	}

	/**
	 * Applications set it for columns of types of their own.
	 */
	@Test
	void r41ParametersWithoutATypeAreTaken() {
		HikariDataSource untyped = pool(this.database.with("stringtype=unspecified").url());
		try (JdbcLockStore store = new JdbcLockStore(untyped, settings())) {
			store.verify();
		}
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
	 * An index in the order of a library does not find its rows any more when the next
	 * version of the library has another order, and lets a second row in.
	 */
	@Test
	void r41KeyInTheOrderOfTheOperatingSystemIsRefused() throws SQLException {
		String foreign = JdbcClient.create(application())
			.sql("SELECT collname FROM pg_collation WHERE collprovider IN ('c', 'i') AND collcollate IS DISTINCT FROM 'C' "
					+ "AND collcollate IS DISTINCT FROM 'POSIX' AND collencoding IN (-1, 6) LIMIT 1")
			.query(String.class)
			.single();
		execute("DROP TABLE IF EXISTS dlock_foreign");
		execute("CREATE TABLE dlock_foreign (LIKE dlock_lock INCLUDING ALL)");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_foreign"));
		store.verify();
		execute("ALTER TABLE dlock_foreign ALTER COLUMN lock_key TYPE VARCHAR(512) COLLATE \"" + foreign + "\"");
		StoreMisconfiguredException refused = catchThrowableOfType(StoreMisconfiguredException.class, store::verify);
		assertThat(refused.description()).contains("lock_key", "dlock_foreign", foreign);
		execute(refused.action().replaceFirst(".*(?=ALTER TABLE)", ""));
		store.verify();
		store.close();
	}

	@Test
	void r39TableThatACrashEmptiesIsRefused() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_unlogged");
		execute("CREATE UNLOGGED TABLE dlock_unlogged (LIKE dlock_lock INCLUDING ALL)");
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_unlogged"))) {
			StoreMisconfiguredException refused = catchThrowableOfType(StoreMisconfiguredException.class,
					store::verify);
			assertThat(refused.description()).contains("dlock_unlogged", "UNLOGGED");
			execute(refused.action().replaceFirst(".*(?=ALTER TABLE)", ""));
			store.verify();
		}
	}

	/**
	 * A pool takes the isolation of its first connection for that of all.
	 */
	@Test
	void isolationOfEachConnectionIsThatOfTheLocks() throws SQLException {
		String role = "strict_" + Long.toString(System.nanoTime(), 36);
		execute("CREATE ROLE " + role + " LOGIN PASSWORD 'strict'");
		execute("GRANT ALL ON dlock_lock TO " + role);
		try (HikariDataSource application = Pools.create(this.database.url(), role, "strict");
				JdbcLockStore store = new JdbcLockStore(application, settings())) {
			String later = store.connections().execute("outer", (dialect, first) -> {
				execute("ALTER ROLE " + role + " SET default_transaction_isolation = 'serializable'");
				return ownSetting(store, "default_transaction_isolation");
			});
			assertThat(later).isEqualTo("read committed");
		}
	}

	@Test
	void r41KeyInTheOrderOfTheDatabaseIsAcceptedIfThatIsTheOrderOfTheBytes() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_default");
		execute("CREATE TABLE dlock_default (LIKE dlock_lock INCLUDING ALL)");
		execute("ALTER TABLE dlock_default ALTER COLUMN lock_key TYPE VARCHAR(512) COLLATE \"default\"");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_default"));
		store.verify();
		store.close();
	}

	@Test
	void databaseThatDoesNotStoreEveryCharacterTakesEveryLock() throws SQLException {
		execute("DROP DATABASE IF EXISTS dlock_latin1 (FORCE)");
		execute("CREATE DATABASE dlock_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
		HikariDataSource latin1 = pool(this.database.url().replaceFirst("/[^/]+$", "/dlock_latin1"));
		Pools.createLockTable(latin1, "postgresql");
		try (JdbcLockStore store = new JdbcLockStore(latin1, settings())) {
			store.verify();
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "zamówił…", "ł".repeat(255))));
			assertThat(store.find(key())).hasValueSatisfying((lock) -> {
				assertThat(lock.holder()).isEqualTo("zam\\u{f3}wi\\u{142}\\u{2026}");
				assertThat(lock.reason()).startsWith("\\u{142}\\u{142}").hasSizeLessThanOrEqualTo(255);
			});
		}
	}

	/**
	 * These databases speak the language of PostgreSQL, but each of their nodes has its
	 * own clock.
	 */
	@ParameterizedTest
	@ValueSource(
			strings = { "CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)", "PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86" })
	void r33DatabaseWithAClockOnEachNodeIsRefused(String version) throws SQLException {
		execute("CREATE SCHEMA IF NOT EXISTS dlock_other");
		execute("CREATE OR REPLACE FUNCTION dlock_other.version() RETURNS text LANGUAGE sql AS $$ SELECT '" + version
				+ "' $$");
		HikariDataSource other = pool(this.database.url() + "?options=-c%20search_path=dlock_other,pg_catalog,public");
		try (JdbcLockStore store = new JdbcLockStore(other, settings())) {
			assertThatExceptionOfType(StoreMisconfiguredException.class)
				.isThrownBy(() -> store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")))
				.withMessageContaining(version);
		}
	}

	/**
	 * A pool that is empty for two command timeouts is replaced, while calls wait for
	 * their places.
	 */
	@Test
	void callThatWaitedForItsPlaceUsesTheNewPool() throws Exception {
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
