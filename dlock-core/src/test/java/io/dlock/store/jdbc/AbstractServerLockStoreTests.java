package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Failed;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.TcpProxy;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Failures between a client and a database server.
 */
abstract class AbstractServerLockStoreTests extends AbstractJdbcLockStoreTests {

	private TcpProxy proxy;

	private JdbcLockStore behindProxy;

	private JdbcLockStore impatient;

	/**
	 * The number of round trips that an uncontended acquire and release may take.
	 */
	abstract int roundTrips();

	@BeforeEach
	void startProxy() {
		this.proxy = TcpProxy.to(this.database.host(), this.database.port());
		this.behindProxy = new JdbcLockStore(poolBehindProxy(), settings().withPoolSize(2));
		this.behindProxy.verify();
	}

	private HikariDataSource poolBehindProxy() {
		return pool(this.database.url(this.proxy.port()));
	}

	/**
	 * A store whose timeout runs out, since the server behind the proxy falls silent.
	 */
	private JdbcLockStore atSilentServer() {
		return atSilentServer(SHORT_TIMEOUT);
	}

	private JdbcLockStore atSilentServer(Duration timeout) {
		this.impatient = impatientStore(poolBehindProxy(), timeout);
		awaitSilence(this.impatient);
		this.proxy.blackHole(true);
		return this.impatient;
	}

	@AfterEach
	void stopProxy() {
		this.behindProxy.close();
		if (this.impatient != null) {
			this.impatient.close();
		}
		this.proxy.close();
	}

	private AcquireCommand command(String owner) {
		return new AcquireCommand(key(), owner, LEASE, "holder", "");
	}

	/**
	 * Use a store on connections that have other settings than the drivers' own.
	 * @param option an option of the driver
	 */
	final void assertThatLocksWorkWith(String option) {
		try (JdbcLockStore other = new JdbcLockStore(pool(this.database.with(option).url()), settings())) {
			other.verify();
			for (int i = 0; i < 2; i++) {
				AcquireCommand command = new AcquireCommand(key(), "a" + i, LEASE, "it's \\", "\\' \"");
				granted(other.acquire(command));
				assertThat(other.acquire(command("b"))).isInstanceOf(Refused.class);
				assertThat(other.find(key())).hasValueSatisfying((lock) -> {
					assertThat(lock.holder()).isEqualTo(command.holder());
					assertThat(lock.reason()).isEqualTo(command.reason());
				});
				assertThat(other.renew(
						List.of(new RenewCommand(key(), command.owner(), LEASE), new RenewCommand(key(), "b", LEASE))))
					.containsExactly(RenewResult.RENEWED, RenewResult.REFUSED);
				assertThat(other.release(key(), command.owner())).isTrue();
			}
			List<String> keys = List.of(key() + "/1", key() + "/2");
			assertThat(other
				.acquireAll(keys.stream().map((key) -> new AcquireCommand(key, "set", LEASE, "holder", "")).toList()))
				.allMatch(Granted.class::isInstance);
			assertThat(other.renew(keys.stream().map((key) -> new RenewCommand(key, "set", LEASE)).toList()))
				.containsOnly(RenewResult.RENEWED);
			assertThat(other.releaseAll(keys.stream().map((key) -> new ReleaseCommand(key, "set")).toList()))
				.containsOnly(ReleaseResult.RELEASED);
			granted(other.acquire(new AcquireCommand(key(), "+a", LEASE, "holder", "")));
			assertThat(other.renew(List.of(new RenewCommand(key(), "+a", LEASE)))).containsExactly(RenewResult.RENEWED);
			assertThat(other.release(key(), "+a")).isTrue();
			other.connections()
				.execute("end sessions", (dialect, connection) -> dialect.endSessions(connection, List.of("0 none")));
		}
	}

	@Test
	void uncontendedAcquireAndReleaseTakeFewRoundTrips() {
		for (int i = 0; i < 20; i++) {
			this.behindProxy.acquire(command("warm-up"));
			this.behindProxy.release(key(), "warm-up");
		}
		awaitSilence();
		this.proxy.resetCounters();
		for (int i = 0; i < 10; i++) {
			granted(this.behindProxy.acquire(command("a")));
			assertThat(this.behindProxy.release(key(), "a")).isTrue();
		}
		assertThat(this.proxy.roundTrips()).isEqualTo(10L * roundTrips());
	}

	/**
	 * The replies are held back, so that a client that waits for one is noticed.
	 */
	@Test
	void tenThousandLeasesAreRenewedInAFewRoundTrips() {
		List<RenewCommand> batch = IntStream.range(0, 10_000)
			.mapToObj((i) -> new RenewCommand(key() + "/" + i, "a", LEASE))
			.toList();
		this.behindProxy.renew(batch.subList(0, 1));
		awaitSilence();
		this.proxy.delayReplies(Duration.ofMillis(20));
		this.proxy.resetCounters();
		assertThat(this.behindProxy.renew(batch)).hasSize(10_000).containsOnly(RenewResult.REFUSED);
		assertThat(this.proxy.roundTrips()).isLessThanOrEqualTo(20);
	}

	/**
	 * A refused lease is not asked for again on its own: not if there is no such key, and
	 * not if it was released, is over, or another owner took it.
	 */
	@Test
	void leasesThatAreRefusedForAnyReasonAreAnsweredWithTheOthers() {
		List<RenewCommand> batch = new ArrayList<>();
		List<RenewResult> expected = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			AcquireCommand first = new AcquireCommand(key() + "/" + i, "a", (i % 4 == 1) ? Duration.ofMillis(1) : LEASE,
					"holder", "");
			granted(store().acquire(first));
			if (i % 4 > 1) {
				store().release(first.key(), "a");
			}
			if (i % 4 == 3) {
				granted(store().acquire(new AcquireCommand(first.key(), "successor", LEASE, "holder", "")));
			}
			batch.add(new RenewCommand(first.key(), "a", LEASE));
			expected.add((i % 4 == 0) ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
		Awaitility.await().until(() -> store().find(key() + "/37").isEmpty());
		awaitSilence();
		this.proxy.resetCounters();
		assertThat(this.behindProxy.renew(batch)).isEqualTo(expected);
		assertThat(this.proxy.roundTrips()).isLessThanOrEqualTo(3);
	}

	@Test
	void r28RenewalOfManyLeasesAtASilentServerEnds() {
		List<RenewCommand> batch = IntStream.range(0, 5000)
			.mapToObj((i) -> new RenewCommand(key() + "/" + i, "a", LEASE))
			.toList();
		JdbcLockStore store = atSilentServer();
		assertTimeoutPreemptively(Patience.EVENTUALLY,
				() -> assertThat(store.renew(batch)).hasSize(5000).containsOnly(RenewResult.UNKNOWN));
	}

	/**
	 * Found by the torture bed: a connection that was idle is tried before it is used,
	 * for which some drivers wait a second.
	 */
	@Test
	@Timing
	void r28CallsAtAServerThatFellSilentTakeHardlyLongerThanTheCommandTimeout() throws Exception {
		Duration lessThanASecond = SHORT_TIMEOUT.dividedBy(2);
		JdbcLockStore store = atSilentServer(lessThanASecond);
		// HikariCP does not try a connection that was used in the last half second
		long used = System.nanoTime();
		Awaitility.await().until(() -> System.nanoTime() - used > TimeUnit.MILLISECONDS.toNanos(600));
		try (MachineWatch machine = MachineWatch.start()) {
			for (int i = 0; i < 3; i++) {
				assertThat(machine.time(() -> failure(store)))
					.isLessThan(lessThanASecond.multipliedBy(16).dividedBy(10));
			}
		}
	}

	/**
	 * Found by the torture bed: a call that had waited for a place among the connections
	 * waited as long again for the connection.
	 */
	@Test
	@Timing
	void r28CallsAtAServerThatFellSilentDoNotQueueUp() throws Exception {
		Duration timeout = SHORT_TIMEOUT.multipliedBy(2);
		JdbcLockStore store = atSilentServer(timeout);
		ExecutorService callers = Executors.newFixedThreadPool(4);
		try (MachineWatch machine = MachineWatch.start()) {
			List<Future<Duration>> durations = IntStream.range(0, 12)
				.mapToObj((i) -> callers.submit(() -> machine.time(() -> failure(store))))
				.toList();
			for (Future<Duration> duration : durations) {
				assertThat(duration.get()).isLessThan(timeout.plusMillis(300));
			}
		}
		finally {
			callers.shutdown();
		}
	}

	/**
	 * Found by the torture bed: on a slow way each of many statements took its time.
	 */
	@Test
	@Timing
	void r28CallThatIsRefusedOnASlowWayEndsWhenItsTimeIsOver() throws Exception {
		granted(store().acquire(command("a")));
		JdbcLockStore store = impatientStore(poolBehindProxy());
		awaitSilence(store);
		this.proxy.delayReplies(SHORT_TIMEOUT.multipliedBy(6).dividedBy(10));
		AcquireCommand command = new AcquireCommand(key(), "b", LEASE, "holder", "",
				MailboxAddress.create(Duration.ofMillis(50)), true, "before");
		try (store; MachineWatch machine = MachineWatch.start()) {
			assertThat(machine.time(() -> assertThat(store.acquire(command)).isInstanceOf(Refused.class)))
				.isLessThan(SHORT_TIMEOUT.multipliedBy(28).dividedBy(10));
		}
	}

	private Object failure(JdbcLockStore store) {
		return assertThatExceptionOfType(StoreException.class).isThrownBy(() -> store.acquire(command("a")));
	}

	/**
	 * A person's forgotten transaction is one lock's problem and not that of all.
	 */
	@Test
	void r34RowThatAnotherSessionHasLockedHoldsUpItsOwnRenewalOnly() throws SQLException {
		List<RenewCommand> batch = IntStream.range(0, 50)
			.mapToObj((i) -> new RenewCommand(key() + "/" + i, "a", Duration.ofMinutes(1)))
			.toList();
		batch.forEach((lease) -> granted(store().acquire(new AcquireCommand(lease.key(), "a", LEASE, "holder", ""))));
		try (JdbcLockStore impatient = impatientStore(application());
				Connection blocker = application().getConnection();
				Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.executeQuery("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "/7' FOR UPDATE").close();
			List<RenewResult> results = impatient.renew(batch);
			assertThat(results.get(7)).isEqualTo(RenewResult.UNKNOWN);
			assertThat(results).filteredOn((result) -> result == RenewResult.RENEWED).hasSize(49);
			blocker.rollback();
		}
		assertThat(store().renew(batch)).hasSize(50).containsOnly(RenewResult.RENEWED);
	}

	/**
	 * A row that is locked for a moment is waited for.
	 */
	@Test
	void rowThatIsLockedForAMomentIsRenewedAllTheSame() throws Exception {
		granted(acquire("a", LEASE));
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.executeQuery("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "' FOR UPDATE").close();
			CompletableFuture<RenewResult> renewed = CompletableFuture.supplyAsync(() -> renew("a", LEASE));
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> renewed.get(300, TimeUnit.MILLISECONDS));
			blocker.commit();
			assertThat(renewed.get()).isEqualTo(RenewResult.RENEWED);
		}
	}

	/**
	 * The pools open their idle connections in the background.
	 */
	private void awaitSilence() {
		awaitSilence(this.behindProxy);
	}

	private void awaitSilence(JdbcLockStore store) {
		long[] last = { -1 };
		Awaitility.await().pollInterval(Duration.ofMillis(300)).until(() -> {
			long now = this.proxy.roundTrips();
			boolean silent = now == last[0];
			last[0] = now;
			return silent;
		});
		store.release(key(), "warm-up");
	}

	@Test
	void b1LostReplyToAnAcquireIsResolvedByTheOwner() {
		awaitSilence();
		this.proxy.dropNextReply();
		StoreException ex = catchThrowableOfType(StoreException.class, () -> this.behindProxy.acquire(command("a")));
		assertThat(ex).isNotNull();
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		Granted granted = Awaitility.await().ignoreException(StoreException.class).until(() -> {
			return (this.behindProxy.acquire(command("a")) instanceof Granted again) ? again : null;
		}, (result) -> result != null);
		assertThat(store().find(key()))
			.hasValueSatisfying((lock) -> assertThat(lock.token()).isEqualTo(granted.token()));
		assertThat(this.behindProxy.release(key(), "a")).isTrue();
	}

	@Test
	void b33LostReplyToAReleaseLeavesTheLockFree() {
		awaitSilence();
		granted(this.behindProxy.acquire(command("a")));
		this.proxy.dropNextReply();
		StoreException ex = catchThrowableOfType(StoreException.class, () -> this.behindProxy.release(key(), "a"));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		Awaitility.await().untilAsserted(() -> assertThat(acquire("b", LEASE)).isInstanceOf(Granted.class));
	}

	@Test
	void r24LostReplyToABatchIsUnknownForEachOfItsKeys() {
		awaitSilence();
		this.proxy.dropNextReply();
		assertThat(this.behindProxy.acquireAll(List.of(command("a")))).singleElement()
			.isInstanceOfSatisfying(Failed.class,
					(failed) -> assertThat(failed.failure().effect()).isEqualTo(Effect.UNKNOWN));
		Awaitility.await().until(() -> this.behindProxy.acquireAll(List.of(command("a"))).get(0) instanceof Granted);
		awaitSilence();
		this.proxy.dropNextReply();
		assertThat(this.behindProxy.releaseAll(List.of(new ReleaseCommand(key(), "a"))))
			.containsExactly(ReleaseResult.UNKNOWN);
	}

	@Test
	void r34SilentServerIsUnknownWithinTheTimeout() {
		JdbcLockStore store = atSilentServer();
		StoreException ex = catchThrowableOfType(StoreException.class, () -> store.acquire(command("a")));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		assertThat(ex.isLasting()).isFalse();
		this.proxy.blackHole(false);
		Awaitility.await()
			.ignoreException(StoreException.class)
			.untilAsserted(() -> assertThat(store.acquire(command("a"))).isInstanceOf(Granted.class));
	}

	@Test
	void cutConnectionsAreReplaced() {
		granted(this.behindProxy.acquire(command("a")));
		this.proxy.cutAll();
		Awaitility.await()
			.ignoreException(StoreException.class)
			.untilAsserted(() -> assertThat(this.behindProxy.release(key(), "a")).isTrue());
	}

	@Test
	void unreachableDatabaseIsAFailureWithoutEffect() {
		HikariDataSource nowhere = pool(this.database.url(1));
		nowhere.setInitializationFailTimeout(-1);
		try (JdbcLockStore store = new JdbcLockStore(nowhere, settings().withCommandTimeout(SHORT_TIMEOUT))) {
			StoreException ex = catchThrowableOfType(StoreException.class, store::verify);
			assertThat(ex.effect()).isEqualTo(Effect.NONE);
		}
	}

	@Test
	void closeLeavesNoConnection() {
		int before = this.proxy.openConnections();
		granted(this.behindProxy.acquire(command("a")));
		this.behindProxy.close();
		application().close();
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.proxy.openConnections()).isLessThan(Math.max(2, before)));
	}

}
