package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.Pools;
import io.dlock.test.TestDatabase;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Situations that all databases have, on H2 without a server, and modes that only H2 has.
 */
class H2LockStoreTests extends AbstractJdbcLockStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.h2();
	}

	@Override
	void moveLeases(int days) throws SQLException {
		execute("UPDATE dlock_lock SET lease_until = DATEADD('DAY', %d, lease_until)".formatted(days));
	}

	@Test
	void modeInWhichAnEmptyTextIsNullIsRefused() {
		HikariDataSource oracle = pool("jdbc:h2:mem:" + UUID.randomUUID() + ";MODE=Oracle;DB_CLOSE_DELAY=-1");
		Pools.createLockTable(oracle, "h2");
		try (JdbcLockStore store = new JdbcLockStore(oracle, settings())) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("MODE=Oracle");
		}
	}

	@Test
	void synchronousCommitIsForPostgreSqlOnly() {
		try (JdbcLockStore store = new JdbcLockStore(application(),
				settings().withSynchronousCommit(SynchronousCommit.LOCAL))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("only PostgreSQL has that setting");
		}
	}

	/**
	 * H2's SQL states do not tell a pool that the connection is broken.
	 */
	@Test
	void connectionsToADatabaseThatWasClosedAreReplaced() throws SQLException {
		granted(acquire("a", LEASE));
		assertThatExceptionOfType(SQLException.class).as("of closing the connection")
			.isThrownBy(() -> execute("SHUTDOWN"));
		JdbcLockStore store = (JdbcLockStore) store();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire("a", LEASE));
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.ignoreExceptionsMatching((ex) -> ex instanceof StoreException && !ex.getMessage().contains("dlock_lock"))
			.untilAsserted(() -> assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify)
				.withMessageMatching("(?is).*table.*dlock_lock.*missing.*"));
	}

	@Test
	void r41KeysAreComparedExactlyInADatabaseThatIgnoresCase() throws SQLException {
		HikariDataSource ignoring = pool("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;IGNORECASE=TRUE");
		Pools.createLockTable(ignoring, "h2");
		try (JdbcLockStore store = new JdbcLockStore(ignoring, settings())) {
			store.verify();
			for (String each : List.of("Order", "order")) {
				granted(store.acquire(new AcquireCommand(each, "a", LEASE, "holder", "")));
				assertThat(store.acquire(new AcquireCommand(each, "b", LEASE, "holder", "")))
					.isInstanceOf(Refused.class);
			}
			assertThat(store.release("order", "a")).isTrue();
			assertThat(store.find("Order")).isPresent();
		}
		try (Connection connection = ignoring.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute("DELETE FROM dlock_lock");
			statement.execute("ALTER TABLE dlock_lock ALTER COLUMN lock_key VARCHAR(512) NOT NULL");
			try (JdbcLockStore store = new JdbcLockStore(ignoring, settings())) {
				assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
					.withMessageContaining("VARCHAR_IGNORECASE");
			}
		}
	}

	@Test
	void tableWhoseNameDiffersByItsCaseIsAnotherOne() throws SQLException {
		for (String mode : List.of("DATABASE_TO_UPPER=TRUE", "DATABASE_TO_LOWER=TRUE", "DATABASE_TO_UPPER=FALSE")) {
			HikariDataSource database = pool("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;" + mode);
			Pools.createLockTable(database, "h2");
			try (Connection connection = database.getConnection();
					Statement statement = connection.createStatement();
					JdbcLockStore store = new JdbcLockStore(database, settings())) {
				statement.execute("CREATE TABLE \"Dlock_Lock\" (\"lock_key\" VARCHAR_IGNORECASE)");
				store.verify();
			}
		}
	}

	@Test
	void r41DatabaseWithACollationIsRefused() {
		HikariDataSource collated = pool(
				"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;COLLATION=ENGLISH STRENGTH PRIMARY");
		Pools.createLockTable(collated, "h2");
		try (JdbcLockStore store = new JdbcLockStore(collated, settings())) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("ENGLISH");
		}
	}

	@Test
	void statementsDoNotUseTheDigitsOfTheDefaultLocale() {
		Locale before = Locale.getDefault();
		Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
		try (JdbcLockStore store = new JdbcLockStore(application(), settings())) {
			granted(ask(store, "a", null));
		}
		finally {
			Locale.setDefault(before);
		}
	}

	/**
	 * Found by the torture bed.
	 */
	@Test
	void r50InterruptOfTheFirstCallLeavesNoPoolBehind() {
		Set<Thread> before = threads("dlock:housekeeper");
		JdbcLockStore store = new JdbcLockStore(new DelegatingDataSource(application()) {

			@Override
			public boolean isWrapperFor(Class<?> type) throws SQLException {
				Thread.currentThread().interrupt();
				return super.isWrapperFor(type);
			}

		}, settings());
		try {
			ask(store, "a", null);
		}
		catch (StoreException ex) {
			assertThat(ex.effect()).isEqualTo(StoreException.Effect.NONE);
		}
		boolean kept = Thread.currentThread().isInterrupted();
		store.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(kept).isTrue();
		Awaitility.await()
			.untilAsserted(() -> assertThat(before).as("none is left").containsAll(threads("dlock:housekeeper")));
	}

	/**
	 * The one slot is never free, so that only the answer to the first call says that the
	 * database works.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@Timing
	void a5DatabaseThatAnswersACallIsCongestedAndNotDown(boolean congested) throws Exception {
		Duration timeout = SHORT_TIMEOUT.multipliedBy(3);
		CountDownLatch done = new CountDownLatch(1);
		ExecutorService callers = Executors.newCachedThreadPool();
		try (JdbcLockStore store = impatientStore(application(), timeout)) {
			CountDownLatch first = new CountDownLatch(1);
			Future<Boolean> answered = callers.submit(() -> work(store, first, congested));
			Awaitility.await().pollDelay(timeout.dividedBy(10)).until(() -> true);
			callers.submit(() -> work(store, done, false));
			Awaitility.await().pollDelay(timeout.dividedBy(4)).until(() -> true);
			Future<Boolean> last = callers.submit(() -> work(store, done, false));
			Awaitility.await().pollDelay(timeout.dividedBy(3)).until(() -> true);
			first.countDown();
			Awaitility.await().until(answered::isDone);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(last::get)
				.withCauseInstanceOf(StoreCongestedException.class);
		}
		finally {
			done.countDown();
			callers.shutdown();
		}
	}

	/**
	 * Occupy a connection and, if congested, fail like a shared request whose changes
	 * other requests keep overtaking.
	 */
	private static boolean work(JdbcLockStore store, CountDownLatch end, boolean congested) {
		return store.connections().execute("work", (dialect, connection) -> {
			try {
				boolean ended = end.await(1, TimeUnit.MINUTES);
				if (congested) {
					throw new StoreCongestedException("Other sessions changed the lock again and again", null);
				}
				return ended;
			}
			catch (InterruptedException ex) {
				throw new SQLException(ex);
			}
		});
	}

	@Test
	void closedStoreOpensNoPoolForALateCall() {
		Set<Thread> before = threads("dlock:housekeeper");
		JdbcLockStore store = new JdbcLockStore(application(), settings());
		store.close();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> ask(store, "a", null))
			.returns(StoreException.Effect.NONE, StoreException::effect);
		assertThat(before).containsAll(threads("dlock:housekeeper"));
	}

	/**
	 * H2 runs in this process, where a round trip is a statement.
	 */
	@Test
	void acquireAndReleaseAreTwoStatements() {
		BoundValues observed = new BoundValues();
		JdbcLockStore store = new JdbcLockStore(observed.observe(application()), settings().withPoolSize(0));
		for (int i = 0; i < 10; i++) {
			granted(store.acquire(new AcquireCommand(key() + (i % 2), "a", LEASE, "holder", "")));
			assertThat(store.release(key() + (i % 2), "a")).isTrue();
		}
		assertThat(observed.executions()).as("and a look at the table").hasSize(1 + 20);
	}

	@Test
	void refusedTakeoverLooksForTheHolderAfterTheReleaseOnly() {
		BoundValues observed = new BoundValues();
		JdbcLockStore store = new JdbcLockStore(observed.observe(application()), settings().withPoolSize(0));
		granted(ask(store, "a", null));
		assertThat(ask(store, "b", MailboxAddress.create(Duration.ofSeconds(9)))).isInstanceOf(Refused.class);
		int before = observed.executions().size();
		assertThat(store.acquire(new AcquireCommand(key(), "c", LEASE, "holder", "",
				MailboxAddress.create(Duration.ofSeconds(9)), true, "a")))
			.isInstanceOf(Refused.class);
		assertThat(observed.executions().subList(before, observed.executions().size()))
			.as("an attempt, the release, an attempt, the holder, the queue")
			.hasSize(5);
	}

}
