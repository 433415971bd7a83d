package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
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

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests while the store is down.
 */
class OutageTests extends AbstractLeaseLockRegistryTests {

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
	void requestThatComesLateInAnOutageWaitsForItsEnd() {
		TurnedClock clock = new TurnedClock();
		TroubledStore failing = new TroubledStore();
		failing.down = true;
		try (LeaseLockRegistry registry = new LeaseLockRegistry(failing, this.settings, clock)) {
			registry.acquireAsync(request("early", LEASE.multipliedBy(10), LockRequest.FOREVER));
			Awaitility.await().until(() -> failing.acquires.get() > 0);
			clock.pass(LEASE.plusSeconds(1));
			CompletableFuture<LockHandle> late = registry.acquireAsync(request("late", LEASE, LockRequest.FOREVER));
			Awaitility.await().until(() -> late.isDone() || Objects.requireNonNull(failing.asked).key().equals("late"));
			int before = failing.acquires.get();
			Awaitility.await().until(() -> failing.acquires.get() > before + 4);
			failing.down = false;
			assertThat(late).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		}
	}

	@Test
	void outageEndsAWaitWithoutEndAfterALease() {
		this.store.down = true;
		LockRequest request = LockRequest.builder("key")
			.lease(Duration.ofMillis(250))
			.renew(false)
			.waitTime(LockRequest.FOREVER)
			.build();
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(request));
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
		store.refusing = (key) -> key.equals("down");
		store.beforeAcquire = () -> {
			if (failures.getAndUpdate((n) -> Math.max(0, n - 1)) > 0) {
				throw new StoreException(StoreException.Effect.NONE, false, "connection refused", null);
			}
		};
		try (LeaseLockRegistry registry = new LeaseLockRegistry(store, this.settings, clock)) {
			LockHandle held = registry.acquireAsync(request("key", LEASE.multipliedBy(10), LEASE)).join();
			CompletableFuture<LockHandle> waiter = registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
			registry.acquireAsync(request("down", LEASE.multipliedBy(10), LockRequest.FOREVER));
			Awaitility.await().until(() -> store.acquires.get() > 2 && TestContexts.waiters(registry, "key") == 1);
			clock.pass(LEASE.plusSeconds(1));
			// the call that is under way meanwhile fails before the answer
			int underWay = store.acquires.get();
			Awaitility.await().until(() -> store.acquires.get() > underWay + 1);
			registry.acquireAsync(noWait("other")).join().release();
			int before = store.acquires.get();
			Awaitility.await().until(() -> store.acquires.get() > before + 1);
			failures.set(1);
			held.release();
			waiter.get(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS).release();
		}
	}

	/**
	 * The store works, and has no connection left for the call.
	 */
	@Test
	void outageBeforeACongestionIsNotCounted() {
		TurnedClock clock = new TurnedClock();
		TroubledStore store = new TroubledStore();
		AtomicInteger failures = new AtomicInteger(1);
		store.beforeAcquire = () -> {
			throw (failures.getAndUpdate((n) -> Math.max(0, n - 1)) > 0)
					? new StoreException(StoreException.Effect.NONE, false, "connection refused", null)
					: new StoreCongestedException("no connection left", null);
		};
		try (LeaseLockRegistry registry = new LeaseLockRegistry(store, this.settings, clock)) {
			CompletableFuture<LockHandle> waiter = registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
			Awaitility.await().until(() -> store.acquires.get() > 3);
			clock.pass(LEASE.plusSeconds(1));
			int before = store.acquires.get();
			Awaitility.await().until(() -> waiter.isDone() || store.acquires.get() > before + 2);
			assertThat(waiter).isNotDone();
			waiter.cancel(false);
		}
	}

	/**
	 * The other keys are on nodes that answer.
	 */
	@Test
	void failureOfOneKeyEndsItsWaitAfterALease() {
		TurnedClock clock = new TurnedClock();
		TroubledStore store = new TroubledStore();
		store.refusing = (key) -> key.equals("down");
		try (LeaseLockRegistry registry = new LeaseLockRegistry(store, this.settings, clock)) {
			CompletableFuture<LockHandle> down = registry.acquireAsync(request("down", LEASE, LockRequest.FOREVER));
			Awaitility.await().until(() -> {
				int before = store.acquires.get();
				Awaitility.await().until(() -> down.isDone() || store.acquires.get() > before + 2);
				registry.acquireAsync(noWait("other")).join().release();
				clock.pass(LEASE.dividedBy(2));
				return down.isDone();
			});
			assertThat(down).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.withCauseInstanceOf(LockStoreException.class);
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
