package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
 * Failures between a client and a database server: silence, lost replies and broken
 * connections.
 */
abstract class AbstractServerOutageTests extends AbstractJdbcLockStoreTests {

	TcpProxy proxy;

	JdbcLockStore behindProxy;

	private JdbcLockStore impatient;

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

	final AcquireCommand command(String owner) {
		return new AcquireCommand(key(), owner, LEASE, "holder", "");
	}

	private Object failure(JdbcLockStore store) {
		return assertThatExceptionOfType(StoreException.class).isThrownBy(() -> store.acquire(command("a")));
	}

	/**
	 * The pools open their idle connections in the background.
	 */
	final void awaitSilence() {
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
		// the connection was idle and is tried first, for which a busy server may be too
		// slow
		MachineWatch.repeatIfLate(() -> assertThat(store.release(key(), "warm-up")).isFalse());
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
	 * Shared locks are released one after the other.
	 */
	@Test
	void releasesOfASetDoNotTakeATimeoutEach() {
		List<ReleaseCommand> releases = IntStream.range(0, 200)
			.mapToObj((i) -> new ReleaseCommand(key() + i, "+a"))
			.toList();
		JdbcLockStore store = atSilentServer();
		assertTimeoutPreemptively(Patience.EVENTUALLY,
				() -> assertThat(store.releaseAll(releases)).hasSize(200).containsOnly(ReleaseResult.UNKNOWN));
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
	 * Found by the torture bed: a call that had waited for a slot among the connections
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
		AcquireCommand command = new AcquireCommand(key(), "b", LEASE, "holder", "",
				MailboxAddress.create(Duration.ofMillis(50)), true, "before");
		try (store; MachineWatch machine = MachineWatch.start()) {
			// on a busy machine the connection may be tried first, for which the way is
			// too slow
			Duration duration = MachineWatch.evaluateIfLate(() -> {
				this.proxy.delayReplies(Duration.ZERO);
				awaitSilence(store);
				this.proxy.delayReplies(SHORT_TIMEOUT.multipliedBy(6).dividedBy(10));
				return machine.time(() -> assertThat(store.acquire(command)).isInstanceOf(Refused.class));
			});
			assertThat(duration).isLessThan(SHORT_TIMEOUT.multipliedBy(28).dividedBy(10));
		}
	}

	@Test
	void b1LostReplyToAnAcquireIsResolvedByTheOwner() {
		StoreException ex = lostReply(this::awaitSilence, () -> this.behindProxy.acquire(command("a")));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		Granted granted = Awaitility.await().ignoreException(StoreException.class).until(() -> {
			return (this.behindProxy.acquire(command("a")) instanceof Granted again) ? again : null;
		}, (result) -> result != null);
		assertThat(store().find(key()))
			.hasValueSatisfying((lock) -> assertThat(lock.token()).isEqualTo(granted.token()));
		assertThat(this.behindProxy.release(key(), "a")).isTrue();
	}

	/**
	 * Repeat a call until its reply is lost, and not that of a server that is only asked
	 * whether the connection is alive, as a connection is after half a second.
	 * @param before uses the connection
	 */
	private StoreException lostReply(Runnable before, ThrowingCallable call) {
		return MachineWatch.evaluateIfLate(() -> {
			before.run();
			this.proxy.dropNextReply();
			StoreException ex = catchThrowableOfType(StoreException.class, call);
			assertThat(ex).isNotNull();
			return ex;
		});
	}

	@Test
	void b33LostReplyToAReleaseLeavesTheLockFree() {
		StoreException ex = lostReply(this::acquireInSilence, () -> this.behindProxy.release(key(), "a"));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		Awaitility.await().untilAsserted(() -> assertThat(acquire("b", LEASE)).isInstanceOf(Granted.class));
	}

	private void acquireInSilence() {
		awaitSilence();
		granted(this.behindProxy.acquire(command("a")));
	}

	@Test
	void r24LostReplyToABatchIsUnknownForEachOfItsKeys() {
		MachineWatch.repeatIfLate(() -> {
			awaitSilence();
			this.proxy.dropNextReply();
			assertThat(this.behindProxy.acquireAll(List.of(command("a")))).singleElement()
				.isInstanceOfSatisfying(Failed.class,
						(failed) -> assertThat(failed.failure().effect()).isEqualTo(Effect.UNKNOWN));
		});
		Awaitility.await().until(() -> this.behindProxy.acquireAll(List.of(command("a"))).get(0) instanceof Granted);
		MachineWatch.repeatIfLate(() -> {
			acquireInSilence();
			this.proxy.dropNextReply();
			assertThat(this.behindProxy.releaseAll(List.of(new ReleaseCommand(key(), "a"))))
				.containsExactly(ReleaseResult.UNKNOWN);
		});
	}

	@Test
	void r34SilentServerIsUnknownWithinTheTimeout() {
		JdbcLockStore store = atSilentServer();
		StoreException ex = catchThrowableOfType(StoreException.class, () -> store.acquire(command("a")));
		assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN);
		assertThat(ex.isPermanent()).isFalse();
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
