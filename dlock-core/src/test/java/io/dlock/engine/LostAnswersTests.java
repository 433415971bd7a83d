package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.StoreException;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Lost answers, and a store that is down.
 */
class LostAnswersTests extends AbstractLeaseLockRegistryTests {

	@Test
	void r24b1LostReplyToAnAcquireIsResolvedWithinTheWait() {
		this.store.lostAcquireReplies.set(2);
		LockHandle handle = this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5)));
		assertThat(handle.isValid()).isTrue();
		assertThat(handle.token()).isEqualTo(this.store.memory.find("key").orElseThrow().token() * 1024);
		handle.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r25UnansweredAcquireIsRevoked() {
		this.store.lostAcquireReplies.set(1);
		LockStoreException ex = catchThrowableOfType(LockStoreException.class,
				() -> this.registry.acquire(noWait("key")));
		assertThat(ex).hasMessageContaining("'key'").hasMessageContaining("revoked");
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		Awaitility.await().untilAsserted(() -> assertThat(this.registry.revoker().size()).isZero());
	}

	/**
	 * A registry that closes waits for the requests in its queues, and then makes the
	 * revocations that are left.
	 */
	@ParameterizedTest
	@EnumSource
	void r51RequestIsRevokedBeforeItLeavesItsQueue(LockMode mode) throws Exception {
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch revoke = new CountDownLatch(1);
		CountDownLatch asked = this.store.holdAcquires(answer);
		this.store.beforeRelease = () -> awaitQuietly(revoke);
		this.store.lostAcquireReplies.set(1);
		CompletableFuture<LockHandle> request = inOtherThread(
				() -> this.registry.acquire(noWait("key").withMode(mode)));
		asked.await();
		List<Integer> revocations = new CopyOnWriteArrayList<>();
		QueuedRequest next = this.registry.queues()
			.join(TestContexts.of("key", new LeaseTerms(LEASE, true)),
					() -> revocations.add(this.registry.revoker().size()));
		answer.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(request::get)
			.withCauseInstanceOf(LockStoreException.class);
		assertThat(revocations).containsExactly(1);
		revoke.countDown();
		this.registry.queues().leave(next);
	}

	@Test
	void r25AcquireThatEndedWithAnUnexpectedFailureIsRevoked() {
		this.store.afterAcquire = () -> {
			throw new IllegalStateException("a driver with a bug");
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")))
			.withMessageContaining("revoked");
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void r25RevocationContinuesUntilTheLeaseIsOver() {
		this.store.lostAcquireReplies.set(1);
		this.store.lostReleases.set(5);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		assertThat(this.store.releases.get()).isGreaterThanOrEqualTo(6);
	}

	/**
	 * With pauses of half a second, the default of long command timeouts, this would take
	 * ten seconds.
	 */
	@Test
	@Timing
	void r25RevocationIsTriedTwiceInACommandTimeoutHoweverLongTheOutageIs() throws Exception {
		this.store.lostAcquireReplies.set(1);
		this.store.lostReleases.set(Integer.MAX_VALUE);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		try (MachineWatch machine = MachineWatch.start()) {
			assertThat(
					machine.time(() -> Awaitility.await().until(this.store.releases::get, (releases) -> releases > 40)))
				.isLessThan(Duration.ofSeconds(5));
		}
		this.store.lostReleases.set(0);
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	/**
	 * The store is called once for each, and then ten times a second for all together.
	 */
	@Test
	void r25RevocationsThatFindNothingCostLittle() {
		this.store.stuckAcquires.set(100);
		for (int i = 0; i < 100; i++) {
			String key = "key-" + i;
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait(key)));
		}
		Awaitility.await().until(() -> this.store.releases.get() >= 100);
		long start = System.nanoTime();
		int before = this.store.releases.get();
		Awaitility.await().until(() -> this.store.releases.get() >= before + 15);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(1200));
		this.store.stuck.clear();
	}

	@Test
	void r25AcquireThatArrivesAfterItsRevocationIsRevokedToo() {
		this.store.stuckAcquires.set(1);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		Awaitility.await().until(() -> this.store.releases.get() >= 2);
		this.store.memory.acquire(this.store.stuck.remove());
		assertThat(isFreeInStore("key")).isFalse();
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	@Test
	void r25AcquireThatArrivesAfterTheReleaseOfItsRepetitionIsRevokedToo() {
		this.store.stuckAcquires.set(1);
		this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5))).release();
		assertThat(isFreeInStore("key")).isTrue();
		this.store.memory.acquire(this.store.stuck.remove());
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	/**
	 * Of several requests without an answer one is found and undone: the others may
	 * arrive yet.
	 */
	@Test
	void r25FirstRevocationThatFindsSomethingIsNotTheLast() {
		this.store.stuckAcquires.set(1);
		this.store.lostAcquireReplies.set(Integer.MAX_VALUE);
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(100))));
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		this.store.memory.acquire(this.store.stuck.remove());
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	/**
	 * The revocation may find the lease itself, before its release does.
	 */
	@Test
	void r25RevocationThatFindsTheLeaseBeforeItsReleaseIsNotTheLast() {
		this.store.stuckAcquires.set(1);
		LockHandle handle = this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5)));
		this.store.beforeRelease = () -> {
			if (!Thread.currentThread().getName().startsWith("dlock-revoker")) {
				Awaitility.await().until(() -> isFreeInStore("key"));
			}
		};
		handle.release();
		this.store.memory.acquire(this.store.stuck.remove());
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	@Test
	void r25RevocationsOfAnOutageEndWithTheirLeasesAndDelayNoOthers() throws Exception {
		this.store.beforeRelease = () -> {
			throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
		};
		this.store.lostAcquireReplies.set(Integer.MAX_VALUE);
		for (int i = 0; i < 300; i++) {
			LockRequest request = request("key-" + i, Duration.ofMillis(500), Duration.ZERO);
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(request));
		}
		int releases = this.store.releases.get();
		this.store.lostAcquireReplies.set(0);
		this.registry.acquireAsync(request("healthy", LEASE, Duration.ZERO)).get();
		Awaitility.await().until(() -> this.registry.revoker().size() == 0);
		assertThat(this.store.releases.get() - releases).as("one attempt a round, not one for each").isLessThan(100);
	}

	@Test
	void b33r26LostReplyToAReleaseIsNoLoss() {
		LockHandle handle = this.registry.acquire("key");
		this.store.lostReleaseReplies.set(1);
		handle.release();
		assertThat(isFreeInStore("key")).isTrue();
		this.registry.acquire(noWait("key")).release();
	}

	@Test
	void r26ReleaseThatFindsNothingWhileValidIsNoLoss() {
		LockHandle handle = this.registry.acquire("key");
		this.store.memory.clear();
		handle.release();
	}

	@Test
	void failedReleaseIsRepeatedInTheBackground() {
		LockHandle handle = this.registry.acquire("key");
		this.store.lostReleases.set(3);
		handle.release();
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	@Test
	void r2LateGrantIsNotUsed() {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore();
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		slow.afterAcquire = () -> {
			clock.pass(Duration.ofSeconds(17));
			slow.afterAcquire = () -> {
			};
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> late.acquire(noWait("key")))
			.withMessageContaining("so late")
			.satisfies((ex) -> assertThat(ex.isOutage()).as("an outage, in which methods may proceed").isFalse());
		Awaitility.await().untilAsserted(() -> assertThat(slow.memory.find("key")).isEmpty());
		late.close();
	}

	@Test
	void b41ValidityIsCheckedAfterTheWait() {
		assertLateGrantIsRequestedAgain(Duration.ofSeconds(19));
	}

	/**
	 * The process stood still, for longer than an outage would be waited for.
	 */
	@Test
	void r2GrantThatArrivesAfterItsLeaseIsRequestedAgain() {
		assertLateGrantIsRequestedAgain(LEASE.plusSeconds(1));
	}

	private void assertLateGrantIsRequestedAgain(Duration delay) {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore();
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		slow.afterAcquire = () -> {
			clock.pass(delay);
			slow.afterAcquire = () -> {
			};
		};
		LockHandle handle = late.acquire(request("key", LEASE, Duration.ofMinutes(5)));
		assertThat(handle.isValid()).isTrue();
		assertThat(slow.acquires.get()).isGreaterThan(1);
		handle.release();
		late.close();
	}

	@Test
	void r24OutageIsNotBusy() {
		this.store.down = true;
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.tryAcquire(noWait("key")))
			.withMessageContaining("connection refused")
			.withMessageContaining("not held");
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.find("key"));
	}

	@Test
	void outageIsNotBusyForLocalWaiters() {
		this.store.down = true;
		List<CompletableFuture<LockHandle>> waiters = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			waiters.add(inOtherThread(() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(300)))));
			waiters.add(this.registry.acquireAsync(request("key", LEASE, Duration.ofMillis(300))));
		}
		for (CompletableFuture<LockHandle> waiter : waiters) {
			assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
				.withCauseInstanceOf(LockStoreException.class);
		}
	}

	/**
	 * The wait ended between two looks at the clock, and the outage was told as a busy
	 * lock.
	 */
	@Test
	void r24OutageIsNotBusyAtTheVeryEndOfTheWait() {
		AtomicLong millis = new AtomicLong();
		MachineClock slow = new MachineClock() {

			@Override
			public long nanoTime() {
				return TimeUnit.MILLISECONDS.toNanos(millis.incrementAndGet());
			}

			@Override
			public long wallMillis() {
				return millis.get();
			}

		};
		this.store.down = true;
		try (LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.settings, slow)) {
			for (int wait = 1; wait <= 40; wait++) {
				LockRequest request = request("key", LEASE, Duration.ofMillis(wait));
				assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> other.acquire(request));
			}
		}
	}

	@Test
	void localQueueIsBusyAgainWhenTheStoreAnswersAgain() throws Exception {
		this.store.down = true;
		CompletableFuture<LockHandle> first = inOtherThread(
				() -> this.registry.acquire(request("key", LEASE, Duration.ofSeconds(20))));
		Awaitility.await().until(() -> this.store.acquires.get() > 2);
		this.store.down = false;
		LockHandle held = first.get();
		assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(50))));
		held.release();
	}

	@Test
	void outageShorterThanTheWaitIsWaitedOut() throws Exception {
		this.store.down = true;
		CompletableFuture<LockHandle> waiter = inOtherThread(
				() -> this.registry.acquire(request("key", LEASE, Duration.ofSeconds(20))));
		Awaitility.await().until(() -> this.store.acquires.get() > 3);
		this.store.down = false;
		waiter.get().release();
	}

	@Test
	void outageEndsAWaitWithoutEndAfterALease() {
		this.store.down = true;
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquire(request("key", Duration.ofMillis(250), LockRequest.FOREVER)));
	}

	/**
	 * Each that becomes the first of the queue has waited for the store as long.
	 */
	@Test
	void outageIsWaitedForOnceByAllCallersOfAKey() {
		TurnedClock clock = new TurnedClock();
		TroubledStore failing = new TroubledStore();
		failing.down = true;
		LeaseLockRegistry registry = new LeaseLockRegistry(failing, this.settings, clock);
		ExecutorService threads = Executors.newFixedThreadPool(3);
		List<Future<LockHandle>> callers = Stream
			.generate(() -> threads.submit(() -> registry.acquire(request("key", LEASE, LockRequest.FOREVER))))
			.limit(3)
			.toList();
		Awaitility.await().until(() -> registry.counts().waiting() == 3);
		clock.pass(LEASE.plusSeconds(1));
		assertThat(callers).allSatisfy((caller) -> assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> caller.get(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS))
			.withCauseInstanceOf(LockStoreException.class));
		threads.shutdownNow();
		registry.close();
	}

	/**
	 * A store that is not asked does not fail.
	 */
	@Test
	void failureAfterAQuietLeaseIsWaitedOut() throws Exception {
		assertFailureAfterAQuietLeaseIsWaitedOut(0);
	}

	@Test
	void failureLongAfterAnotherIsWaitedOut() throws Exception {
		assertFailureAfterAQuietLeaseIsWaitedOut(1);
	}

	private void assertFailureAfterAQuietLeaseIsWaitedOut(int failuresBefore) throws Exception {
		TurnedClock clock = new TurnedClock();
		TroubledStore quiet = new TroubledStore();
		AtomicInteger failures = new AtomicInteger(failuresBefore);
		quiet.beforeAcquire = () -> {
			if (failures.getAndUpdate((n) -> Math.max(0, n - 1)) > 0) {
				throw new StoreException(StoreException.Effect.NONE, false, "connection refused", null);
			}
		};
		try (LeaseLockRegistry registry = new LeaseLockRegistry(quiet, this.settings, clock)) {
			LockHandle held = registry.acquireAsync(request("key", LEASE.multipliedBy(10), LEASE)).join();
			CompletableFuture<LockHandle> waiter = registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
			Awaitility.await().until(() -> TestContexts.waiters(registry, "key") == 1);
			clock.pass(LEASE.plusSeconds(1));
			failures.set(1);
			held.release();
			waiter.get(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS).release();
			assertThat(failures).hasValue(0);
		}
	}

	/**
	 * The key of one request is on a node that is down, and other nodes answer.
	 */
	@Test
	void failureOfOneKeyIsNoOutageOfTheOthers() throws Exception {
		TurnedClock clock = new TurnedClock();
		TroubledStore store = new TroubledStore();
		AtomicInteger failures = new AtomicInteger();
		store.beforeAcquire = () -> {
			if (Objects.requireNonNull(store.asked).key().equals("down")
					|| failures.getAndUpdate((n) -> Math.max(0, n - 1)) > 0) {
				throw new StoreException(StoreException.Effect.NONE, false, "connection refused", null);
			}
		};
		try (LeaseLockRegistry registry = new LeaseLockRegistry(store, this.settings, clock)) {
			LockHandle held = registry.acquireAsync(request("key", LEASE.multipliedBy(10), LEASE)).join();
			CompletableFuture<LockHandle> waiter = registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
			registry.acquireAsync(request("down", LEASE.multipliedBy(10), LockRequest.FOREVER));
			Awaitility.await().until(() -> store.acquires.get() > 2 && TestContexts.waiters(registry, "key") == 1);
			clock.pass(LEASE.plusSeconds(1));
			registry.acquireAsync(noWait("other")).join().release();
			int before = store.acquires.get();
			Awaitility.await().until(() -> store.acquires.get() > before + 1);
			failures.set(1);
			held.release();
			waiter.get(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS).release();
		}
	}

	@Test
	void lastingFailureEndsTheWaitAtOnce() {
		this.store.misconfigured = true;
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquire(request("key", LEASE, LockRequest.FOREVER)))
			.withMessageContaining("no such table");
		assertThat(this.store.acquires).hasValue(1);
	}

}
