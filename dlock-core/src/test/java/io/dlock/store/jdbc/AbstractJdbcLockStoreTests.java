package io.dlock.store.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Situations that only databases have.
 */
abstract class AbstractJdbcLockStoreTests extends AbstractJdbcTableTests {

	@Test
	void b31LockInsideATransactionSurvivesItsRollback() {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(application()));
		transaction.executeWithoutResult((status) -> {
			granted(acquire("a", LEASE));
			status.setRollbackOnly();
		});
		assertThat(acquire("b", LEASE)).isInstanceOf(Refused.class);
	}

	@Test
	void b31LockOnATransactionAwareDataSourceNeitherJoinsNorEndsTheTransaction() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_business");
		execute("CREATE TABLE dlock_business (id INT)");
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(application()));
		JdbcClient business = JdbcClient.create(application());
		JdbcLockStore onProxy = new JdbcLockStore(new TransactionAwareDataSourceProxy(application()),
				settings().withPoolSize(0));
		transaction.executeWithoutResult((status) -> {
			business.sql("INSERT INTO dlock_business VALUES (1)").update();
			granted(onProxy.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			status.setRollbackOnly();
		});
		assertThat(acquire("b", LEASE)).isInstanceOf(Refused.class);
		assertThat(business.sql("SELECT COUNT(*) FROM dlock_business").query(Long.class).single()).isZero();
	}

	@Test
	void b26LeaseStartsWithTheStatementAndNotWithTheTransaction() {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(application()));
		transaction.executeWithoutResult((status) -> {
			long start = System.nanoTime();
			Awaitility.await()
				.pollInterval(Duration.ofMillis(100))
				.until(() -> System.nanoTime() - start > Duration.ofMillis(700).toNanos());
			assertThatLeaseIsNew(System.nanoTime(), () -> acquire("a", LEASE));
		});
	}

	/**
	 * The part of the lease that is over is not longer than the time since the request.
	 */
	final void assertThatLeaseIsNew(long asked, Supplier<AcquireResult> acquire) {
		granted(acquire.get());
		assertThat(acquire("b", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining())
					.isGreaterThan(LEASE.minusNanos(System.nanoTime() - asked).minusMillis(200)));
	}

	@Test
	void r32LockIsAvailableWhenTheApplicationHoldsAllItsConnections() throws SQLException {
		store().verify();
		List<Connection> held = new ArrayList<>();
		try {
			for (int i = 0; i < application().getMaximumPoolSize(); i++) {
				held.add(application().getConnection());
			}
			granted(acquire("a", LEASE));
			assertThat(store().release(key(), "a")).isTrue();
		}
		finally {
			for (Connection connection : held) {
				connection.close();
			}
		}
	}

	@Test
	void r35b29SerializationFailuresOfTheDefaultIsolationDoNotSurface() throws Exception {
		HikariDataSource serializable = this.database.pool();
		serializable.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		try (serializable) {
			JdbcLockStore shared = new JdbcLockStore(serializable, settings().withPoolSize(0));
			ExecutorService threads = Executors.newFixedThreadPool(8);
			try {
				List<Callable<Void>> calls = new ArrayList<>();
				for (int i = 0; i < 8; i++) {
					String owner = "owner-" + i;
					calls.add(() -> {
						for (int n = 0; n < 40; n++) {
							String contended = key() + "/" + (n % 10);
							AcquireResult result = shared
								.acquire(new AcquireCommand(contended, owner, LEASE, owner, ""));
							if (result instanceof Granted) {
								assertThat(shared.release(contended, owner)).isTrue();
							}
						}
						return null;
					});
				}
				for (Future<Void> result : threads.invokeAll(calls)) {
					result.get();
				}
			}
			finally {
				threads.shutdownNow();
			}
		}
	}

	@Test
	void r31ConnectionIsGivenBackInTheModeItHad() throws SQLException {
		try (HikariDataSource manual = this.database.pool()) {
			manual.setMaximumPoolSize(1);
			manual.setAutoCommit(false);
			JdbcLockStore shared = new JdbcLockStore(manual, settings().withPoolSize(0));
			granted(shared.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			try (Connection connection = manual.getConnection()) {
				assertThat(connection.getAutoCommit()).isFalse();
			}
			assertThat(acquire("b", LEASE)).as("it was committed all the same").isInstanceOf(Refused.class);
		}
	}

	@Test
	void r33b10b27b28NoTimeOfThisMachineIsEverBound() throws SQLException {
		BoundValues bound = new BoundValues();
		JdbcLockStore observed = new JdbcLockStore(bound.observe(application()), settings().withPoolSize(0));
		granted(observed.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
		observed.acquire(new AcquireCommand(key(), "b", LEASE, "holder", ""));
		observed.renew(List.of(new RenewCommand(key(), "a", LEASE)));
		observed.find(key());
		observed.release(key(), "a");
		observed.sweep();
		assertThat(bound.values()).isNotEmpty().allSatisfy((value) -> {
			assertThat(value).isInstanceOfAny(String.class, Long.class);
			if (value instanceof Long number) {
				assertThat(number).as("a duration, not a moment")
					.isIn(LEASE.toNanos() / 1000, Duration.ofDays(1).toNanos() / 1000);
			}
		});
		assertThat(bound.values()).contains(key(), "a", "b");
		assertThat(bound.sql()).isNotEmpty().noneMatch((sql) -> sql.contains(key()));
	}

	@Test
	void r45DialectIsChosenByTheDatabaseAndAnUnknownOneIsRefused() {
		DataSource unknown = new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				return unknownProduct(application().getConnection());
			}

			@Override
			public Connection getConnection(String username, String password) throws SQLException {
				return getConnection();
			}

		};
		JdbcLockStore store = new JdbcLockStore(unknown, settings().withPoolSize(0));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining("'Some Database'");
	}

	private static Connection unknownProduct(Connection connection) {
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, args) -> {
					if (method.getName().equals("getMetaData")) {
						return Proxy.newProxyInstance(Connection.class.getClassLoader(),
								new Class<?>[] { DatabaseMetaData.class }, (p, m, a) -> "Some Database");
					}
					return method.invoke(connection, args);
				});
	}

	@Test
	void textForPeopleNeverMakesAnAcquireFail() {
		String text = "zamówił \ud83d\udd12 \u0000\ud800…".repeat(50);
		granted(store().acquire(new AcquireCommand(key(), "a", LEASE, text, text)));
		assertThat(store().find(key())).hasValueSatisfying((lock) -> {
			assertThat(lock.reason()).startsWith("zamówił \ud83d\udd12 ??…zam").hasSizeBetween(250, 255);
			assertThat(lock.holder()).isEqualTo(lock.reason());
		});
	}

	@Test
	void r31NetworkTimeoutIsGivenBackAsItWas() throws SQLException {
		try (Connection connection = application().getConnection()) {
			int before = connection.getNetworkTimeout();
			try (AutoCommitConnection ours = new AutoCommitConnection(connection, Duration.ofMillis(777))) {
				assertThat(ours.get().getAutoCommit()).isTrue();
			}
			assertThat(application().getConnection()).satisfies((next) -> {
				assertThat(next.getNetworkTimeout()).isEqualTo(before);
				next.close();
			});
		}
	}

	@Test
	void wrongCredentialsAreALastingFailure() {
		HikariDataSource wrong = pool(this.database.url());
		wrong.setPassword("wrong");
		wrong.setInitializationFailTimeout(-1);
		JdbcLockStore store = new JdbcLockStore(wrong, settings().withCommandTimeout(SHORT_TIMEOUT));
		assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify)
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(StoreException.Effect.NONE));
		store.close();
	}

	@Test
	void releasedLockIsFreeAlsoWhenTheClockOfTheServerIsSetBack() throws SQLException {
		granted(acquire("a", LEASE));
		store().release(key(), "a");
		moveLeases(2);
		assertThat(store().find(key())).isEmpty();
		granted(acquire("b", LEASE));
	}

	/**
	 * The bound counts in the row, since all of them saw room in the queue.
	 */
	@Test
	void queueThatIsJoinedByManyAtOnceStaysBoundedAndHasEachOnce() throws Exception {
		granted(acquire("a", LEASE));
		int room = 2;
		String crowd = "0001abcdefghijkl ".repeat(10_000 - room);
		List<MailboxAddress> addresses = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(1));
			addresses.addAll(List.of(address, address, address));
		}
		ExecutorService threads = Executors.newFixedThreadPool(addresses.size());
		try {
			for (int round = 0; round < 15; round++) {
				execute("UPDATE dlock_lock SET waiting = '" + crowd + "' WHERE lock_key = '" + key() + "'");
				List<Callable<AcquireResult>> calls = new ArrayList<>();
				for (MailboxAddress address : addresses) {
					calls.add(() -> store()
						.acquire(new AcquireCommand(key(), "b", LEASE, "holder", "", address, true, null)));
				}
				for (Future<AcquireResult> result : threads.invokeAll(calls)) {
					assertThat(result.get()).isInstanceOfSatisfying(Refused.class,
							(refused) -> assertThat(refused.remaining()).as("there is no hurry").isPositive());
				}
				String waiting = JdbcClient.create(application())
					.sql("SELECT waiting FROM dlock_lock WHERE lock_key = ?")
					.param(key())
					.query(String.class)
					.single();
				String joined = waiting.substring(crowd.length());
				assertThat(joined.split(" ")).doesNotHaveDuplicates().hasSize(room);
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void b17ManyKeysAreHeldAtOnce() {
		for (int i = 0; i < 500; i++) {
			granted(store().acquire(new AcquireCommand(key() + i, "a", LEASE, "holder", "")));
		}
		List<RenewCommand> all = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			all.add(new RenewCommand(key() + i, "a", LEASE));
		}
		assertThat(store().renew(all)).hasSize(500).containsOnly(RenewResult.RENEWED);
	}

}
