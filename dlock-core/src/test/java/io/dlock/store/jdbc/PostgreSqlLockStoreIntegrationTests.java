package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class PostgreSqlLockStoreIntegrationTests extends AbstractServerLockStoreTests {

	private final PostgresServer server = PostgresServer.shared();

	@Override
	String url() {
		return this.server.jdbcUrl();
	}

	@Override
	String url(int port) {
		return this.server.jdbcUrl(port);
	}

	@Override
	String host() {
		return this.server.host();
	}

	@Override
	int port() {
		return this.server.port();
	}

	@Override
	int roundTrips() {
		return 2;
	}

	@Override
	String username() {
		return this.server.username();
	}

	@Override
	String password() {
		return this.server.password();
	}

	@Override
	String schema() {
		return "schema-postgresql.sql";
	}

	@Override
	void moveLeases(int days) throws SQLException {
		execute("UPDATE dlock_lock SET lease_until = lease_until + %d * interval '1 day'".formatted(days));
	}

	/**
	 * The lease counts from when the row is had, not from when it was waited for.
	 */
	@Test
	void r37LeaseIsNotBornOldBehindARowLock() throws Exception {
		granted(acquire("before", LEASE));
		store().release(key(), "before");
		CompletableFuture<AcquireResult> waiting;
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.execute("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "' FOR UPDATE");
			waiting = CompletableFuture.supplyAsync(() -> acquire("a", Duration.ofMillis(800)));
			long start = System.nanoTime();
			Awaitility.await()
				.pollInterval(Duration.ofMillis(100))
				.until(() -> System.nanoTime() - start > Duration.ofMillis(900).toNanos());
			blocker.commit();
		}
		granted(waiting.get());
		assertThat(acquire("b", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isGreaterThan(Duration.ofMillis(400)));
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

	@Test
	void r34RowThatIsLockedByAnOperatorDoesNotBlockForEver() throws Exception {
		granted(acquire("before", LEASE));
		store().release(key(), "before");
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.execute("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "' FOR UPDATE");
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire("a", LEASE))
				.satisfies((ex) -> assertThat(ex.isLasting()).isFalse());
			blocker.rollback();
		}
		granted(acquire("b", LEASE));
	}

	@Test
	void r39CommitsAreDurableWhateverTheDefaultOfTheDatabase() throws SQLException {
		try (HikariDataSource careless = pool(url() + "?options=-c%20synchronous_commit=off")) {
			JdbcLockStore store = new JdbcLockStore(careless, settings());
			store.verify();
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			assertThat(ownSetting(store, "synchronous_commit")).isEqualTo("on");
			assertThat(ownSetting(store, "lock_timeout")).as("a little less than the client waits").isEqualTo("1600ms");
			store.close();
		}
	}

	private static String ownSetting(JdbcLockStore store, String name) {
		return store.connections().execute(false, "show", (dialect, connection) -> {
			try (Statement statement = connection.createStatement(); var row = statement.executeQuery("SHOW " + name)) {
				row.next();
				return row.getString(1);
			}
		});
	}

	@Test
	void readOnlyDatabaseRefusesAndIsNotBusy() {
		try (HikariDataSource readOnly = pool(url() + "?options=-c%20default_transaction_read_only=on")) {
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

	/**
	 * The pool would not try again for five seconds by then.
	 */
	@Test
	void databaseThatComesBackIsUsedWithinThreeTimeouts() {
		Duration timeout = Duration.ofMillis(500);
		try (TcpProxy proxy = TcpProxy.to(host(), port());
				JdbcLockStore store = new JdbcLockStore(pool(url(proxy.port())),
						settings().withCommandTimeout(timeout))) {
			store.verify();
			proxy.refuse(true);
			proxy.cutAll();
			long down = System.nanoTime();
			while (System.nanoTime() - down < Duration.ofMillis(5300).toNanos()) {
				assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify);
			}
			proxy.refuse(false);
			Awaitility.await()
				.atMost(timeout.multipliedBy(3))
				.ignoreException(StoreException.class)
				.untilAsserted(store::verify);
		}
	}

}
