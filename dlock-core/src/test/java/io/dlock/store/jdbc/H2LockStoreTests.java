package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.Pools;
import io.dlock.test.TestDatabase;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

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

	private AcquireResult ask(JdbcLockStore store, String owner, @Nullable MailboxAddress mailbox) {
		return store.acquire(new AcquireCommand(key(), owner, LEASE, "holder", "", mailbox, mailbox != null, null));
	}

	@Test
	void grantedLockIsNoLongerPolled() {
		JdbcLockStore store = (JdbcLockStore) store();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (Mailbox mailbox = store.openMailbox(address, (key) -> fail("The lock is held"))) {
			assertThat(mailbox).isNotNull();
			granted(ask(store, "a", null));
			assertThat(ask(store, "b", address)).isInstanceOf(Refused.class);
			assertThat(store.awaited(address)).containsExactly(StorageKey.of(key()));
			granted(ask(store, "a", address));
			assertThat(store.awaited(address)).isEmpty();
			assertThat(ask(store, "b", address)).isInstanceOf(Refused.class);
			assertThat(store.awaited(address)).containsExactly(StorageKey.of(key()));
			store.leave(StorageKey.of(key()), address);
			assertThat(store.awaited(address)).as("given up").isEmpty();
		}
	}

	@Test
	void eachMailboxReceivesItsOwnKeysOnly() {
		JdbcLockStore store = (JdbcLockStore) store();
		MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));
		MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		Mailbox firstMailbox = store.openMailbox(first, (key) -> turns.add("first"));
		try (Mailbox secondMailbox = store.openMailbox(second, (key) -> turns.add("second"))) {
			assertThat(secondMailbox).isNotNull();
			granted(ask(store, "a", null));
			ask(store, "b", first);
			ask(store, "c", second);
			store.release(key(), "a");
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly("first"));
			granted(ask(store, "b", first));
			firstMailbox.close();
			store.leave(StorageKey.of(key()), first);
			store.release(key(), "b");
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly("first", "second"));
			assertThat(store.awaited(first)).isEmpty();
		}
	}

	@Test
	void moreLocksArePolledThanOneStatementNames() {
		JdbcLockStore store = (JdbcLockStore) store();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		Duration lease = Duration.ofHours(1);
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		try (Mailbox mailbox = store.openMailbox(address, turns::add)) {
			assertThat(mailbox).isNotNull();
			for (int i = 0; i < 1100; i++) {
				granted(store.acquire(new AcquireCommand(key() + i, "a", lease, "holder", "")));
				store.acquire(new AcquireCommand(key() + i, "b", lease, "holder", "", address, true, null));
			}
			for (int i = 0; i < 1100; i += 11) {
				store.release(key() + i, "a");
			}
			Awaitility.await().untilAsserted(() -> assertThat(turns).hasSize(100));
		}
	}

	@Test
	void mailboxEndsWithItsStore() {
		Set<Thread> before = mailboxThreads();
		JdbcLockStore store = new JdbcLockStore(application(), settings());
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		Mailbox mailbox = store.openMailbox(address, (key) -> {
		});
		granted(ask(store, "a", null));
		ask(store, "b", address);
		Set<Thread> opened = mailboxThreads();
		opened.removeAll(before);
		assertThat(opened).hasSize(1);
		store.close();
		Awaitility.await().untilAsserted(() -> assertThat(opened).noneMatch(Thread::isAlive));
		mailbox.close();
		store.openMailbox(address, (key) -> {
		});
		Awaitility.await()
			.untilAsserted(() -> assertThat(before).as("none is left of a closed store").containsAll(mailboxThreads()));
	}

	private static Set<Thread> mailboxThreads() {
		return threads("dlock-mailbox");
	}

	private static Set<Thread> threads(String name) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals(name))
			.collect(Collectors.toCollection(HashSet::new));
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
		assertThat(Thread.interrupted()).isTrue();
		store.close();
		Awaitility.await()
			.untilAsserted(() -> assertThat(before).as("none is left").containsAll(threads("dlock:housekeeper")));
	}

	/**
	 * The one place is never free, so that only the answer to the first call says that
	 * the database works.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@Timing
	void a5AnswerToACallIsNoSilenceOfTheDatabase(boolean congested) throws Exception {
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
	 * Occupy a connection, like a member whose changes others prevent if it is congested.
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

	@Test
	void failingDatabaseIsPolledLessOftenAndFailingListenerIsCalledAgain() throws SQLException {
		AtomicInteger looks = new AtomicInteger();
		DataSource counting = new DelegatingDataSource(application()) {

			@Override
			public Connection getConnection() throws SQLException {
				looks.incrementAndGet();
				return super.getConnection();
			}

			@Override
			public boolean isWrapperFor(Class<?> type) {
				return false;
			}

		};
		JdbcLockStore store = new JdbcLockStore(counting, settings().withPoolSize(0));
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		AtomicInteger turns = new AtomicInteger();
		Mailbox mailbox = store.openMailbox(address, (key) -> {
			if (turns.getAndIncrement() == 0) {
				throw new AssertionError("a failure that is not an exception");
			}
		});
		try (mailbox) {
			granted(ask(store, "a", null));
			ask(store, "b", address);
			execute("ALTER TABLE dlock_lock RENAME TO dlock_away");
			looks.set(0);
			Awaitility.await().pollDelay(Duration.ofMillis(1500)).until(() -> true);
			assertThat(looks.get()).as("looks in 1.5 s").isBetween(1, 15);
			execute("ALTER TABLE dlock_away RENAME TO dlock_lock");
			store.release(key(), "a");
			Awaitility.await().untilAsserted(() -> assertThat(turns).hasValue(1));
			granted(ask(store, "b", address));
			ask(store, "c", address);
			store.release(key(), "b");
			Awaitility.await().untilAsserted(() -> assertThat(turns).hasValueGreaterThan(1));
			granted(ask(store, "c", address));
			ask(store, "d", address);
			looks.set(0);
			Awaitility.await().untilAsserted(() -> assertThat(looks).as("as often as before").hasValueGreaterThan(100));
		}
		finally {
			store.close();
		}
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
		assertThat(observed.executions()).hasSize(20);
	}

	@Test
	void refusedExchangeLooksForTheHolderAfterTheReleaseOnly() {
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
