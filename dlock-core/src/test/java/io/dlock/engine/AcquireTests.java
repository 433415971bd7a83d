package io.dlock.engine;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockRequest;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.queue.StoreQueuePlaces;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Acquiring, waiting and releasing, and requests that cannot be honoured.
 */
class AcquireTests extends AbstractLeaseLockRegistryTests {

	@Test
	void acquireAndReleaseCallTheStoreOnceEach() {
		try (LockHandle handle = this.registry.acquire("key")) {
			assertThat(handle.key()).isEqualTo("key");
			assertThat(handle.isValid()).isTrue();
			assertThat(handle.token()).isPositive();
			assertThat(handle.remaining()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(30));
			assertThat(isFreeInStore("key")).isFalse();
		}
		assertThat(isFreeInStore("key")).isTrue();
		assertThat(this.store.acquires).hasValue(1);
		assertThat(this.store.releases).hasValue(1);
	}

	@Test
	void releasedHandleIsNotValidAndCanBeReleasedAgain() {
		LockHandle handle = this.registry.acquire("key");
		handle.release();
		assertThat(handle.isValid()).isFalse();
		assertThat(handle.remaining()).isZero();
		assertThatIllegalStateException().isThrownBy(handle::assertHeld).withMessageContaining("released");
		handle.release();
		handle.close();
		assertThat(this.store.releases).hasValue(1);
	}

	@Test
	void r17EveryAttemptHasAnOwnerOfItsOwn() {
		List<String> owners = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			owners.add(Lease.newOwner());
		}
		assertThat(owners).doesNotHaveDuplicates().allMatch((owner) -> owner.matches("[0-9a-f]{32}"));
		LockHandle first = this.registry.acquire("key");
		String owner = ((LeaseLockHandle) first).hold().lease().owner();
		first.release();
		LockHandle second = this.registry.acquire("key");
		assertThat(((LeaseLockHandle) second).hold().lease().owner()).isNotEqualTo(owner);
		second.release();
	}

	@Test
	void findReturnsTheHolder() {
		LockRequest request = LockRequest.builder("key").reason("nightly run").build();
		try (LockHandle handle = this.registry.acquire(request)) {
			assertThat(this.registry.find("key")).hasValueSatisfying((info) -> {
				assertThat(info.holder()).isEqualTo("test [" + Thread.currentThread().getName() + "]");
				assertThat(info.reason()).isEqualTo("nightly run");
				assertThat(info.token()).isEqualTo(handle.token());
			});
		}
		assertThat(this.registry.find("key")).isEmpty();
	}

	@Test
	void holderAndReasonAreShortenedAndPrintable() {
		String reason = "a\u0000b\nc" + "x".repeat(1000);
		try (LockHandle handle = this.registry.acquire(LockRequest.builder("key").reason(reason).build())) {
			assertThat(this.registry.find("key")).hasValueSatisfying(
					(info) -> assertThat(info.reason()).startsWith("a b cxxx").endsWith("…").hasSize(255));
		}
	}

	@Test
	void executeReturnsAndReleases() throws Exception {
		assertThat(this.registry.execute(LockRequest.of("key"), LockHandle::key)).isEqualTo("key");
		assertThatIllegalStateException().isThrownBy(() -> this.registry.execute(LockRequest.of("key"), (handle) -> {
			throw new IllegalStateException("of the body");
		})).withMessage("of the body");
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void busyLockIsTriedOnceWithZeroWaitTime() {
		holdElsewhere("key", LEASE);
		LockBusyException ex = catchThrowableOfType(LockBusyException.class,
				() -> this.registry.acquire(noWait("key")));
		assertThat(ex).hasMessageContaining("'key'").hasMessageContaining("another instance");
		assertThat(ex.key()).isEqualTo("key");
		assertThat(this.store.acquires).hasValue(1);
		assertThat(this.registry.tryAcquire("key", Duration.ZERO)).isEmpty();
	}

	@Test
	void refusalNamesTheHolderItsReasonAndTheBeginning() {
		this.store.memory.acquire(new AcquireCommand("key", "elsewhere", LEASE, "another instance", "stock-taking"));
		LockInfo holder = this.registry.find("key").orElseThrow();
		LockBusyException ex = catchThrowableOfType(LockBusyException.class,
				() -> this.registry.acquire(noWait("key")));
		assertThat(ex.holder()).get().usingRecursiveComparison().ignoringFields("age", "until").isEqualTo(holder);
		assertThat(ex).hasMessageContaining("held by another instance (stock-taking) since "
				+ holder.since().truncatedTo(ChronoUnit.MILLIS) + "; waited ");
		assertThat(this.store.acquires).as("calls of the store").hasValue(1);
	}

	@Test
	void busyLockIsAwaitedUntilWaitTimeEnds() {
		holdElsewhere("key", LEASE);
		// a busy machine may be late for a pause
		Awaitility.await().until(() -> {
			int before = this.store.acquires.get();
			LockBusyException ex = catchThrowableOfType(LockBusyException.class,
					() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(300))));
			assertThat(ex.waited()).isGreaterThanOrEqualTo(Duration.ofMillis(300));
			return this.store.acquires.get() - before > 2;
		});
	}

	@Test
	void r29LockOfDeadHolderIsAcquiredWithoutNotificationWhenItsLeaseEnds() {
		holdElsewhere("key", Duration.ofMillis(400));
		LockHandle handle = this.registry.acquire(request("key", LEASE, LockRequest.FOREVER));
		assertThat(handle.isValid()).isTrue();
		handle.release();
	}

	@Test
	void b21LostRaceAfterWakeUpDoesNotEndTheWait() throws Exception {
		holdElsewhere("key", LEASE);
		CompletableFuture<Optional<LockHandle>> waiter = inOtherThread(
				() -> this.registry.tryAcquire(request("key", LEASE, Duration.ofSeconds(20))));
		Awaitility.await().until(() -> this.store.acquires.get() > 3);
		// freed and taken again by yet another process before the waiter looks
		CountDownLatch taken = new CountDownLatch(1);
		awaitQuietly(this.store.holdAcquires(taken));
		this.store.memory.clear();
		holdElsewhere("key", LEASE);
		taken.countDown();
		new StoreQueuePlaces(this.registry.queues()).onLockAvailable("key");
		int before = this.store.acquires.get();
		Awaitility.await().until(() -> this.store.acquires.get() > before + 3);
		assertThat(waiter).isNotDone();
		this.store.memory.release("key", "elsewhere");
		waiter.get().orElseThrow().release();
	}

	@Test
	void localWaitersAreServedInOrderAndOnlyTheFirstCallsTheStore() throws Exception {
		LockHandle held = this.registry.acquire(LockRequest.of("key"));
		List<Integer> served = Collections.synchronizedList(new ArrayList<>());
		List<CompletableFuture<Void>> waiters = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			int number = i;
			CountDownLatch started = new CountDownLatch(1);
			waiters.add(inOtherThread(() -> {
				started.countDown();
				this.registry.execute(request("key", LEASE, Duration.ofSeconds(20)), (handle) -> served.add(number));
				return null;
			}));
			started.await();
			int expected = i + 1;
			Awaitility.await().until(() -> waitersOf("key") == expected);
		}
		assertThat(this.store.acquires).as("calls while the holder is of this process").hasValue(1);
		held.release();
		for (CompletableFuture<Void> waiter : waiters) {
			waiter.get();
		}
		assertThat(served).containsExactly(0, 1, 2, 3, 4);
		assertThat(this.store.acquires.get()).isBetween(2, 6);
		assertThat(this.store.releases).as("only the last has no successor").hasValue(1);
	}

	@Test
	void waiterBehindLocalHolderGivesUpWhenItsWaitTimeEnds() throws Exception {
		LockHandle held = this.registry.acquire("key");
		assertThatExceptionOfType(Exception.class).isThrownBy(
				() -> inOtherThread(() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(100)))).get())
			.withCauseInstanceOf(LockBusyException.class);
		assertThat(this.store.acquires).hasValue(1);
		held.release();
	}

	@Test
	void contendedCounterLosesNoIncrement() throws Exception {
		int[] counter = new int[1];
		List<Long> tokens = new ArrayList<>();
		ExecutorService threads = Executors.newFixedThreadPool(16);
		try {
			List<Callable<Void>> calls = new ArrayList<>();
			for (int i = 0; i < 16; i++) {
				calls.add(() -> {
					for (int n = 0; n < 200; n++) {
						this.registry.execute(request("key", LEASE, Duration.ofSeconds(30)), (handle) -> {
							counter[0]++;
							return tokens.add(handle.token());
						});
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
		assertThat(counter[0]).isEqualTo(3200);
		assertThat(tokens).isSorted().doesNotHaveDuplicates().hasSize(3200);
	}

	@Test
	void i14BusyKeyDoesNotDelayAnother() {
		holdElsewhere("busy", LEASE);
		List<CompletableFuture<String>> waiters = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			waiters.add(inOtherThread(
					() -> this.registry.execute(request("busy", LEASE, Duration.ofSeconds(20)), LockHandle::key)));
		}
		Awaitility.await().until(() -> waitersOf("busy") == 19);
		this.registry.acquire(noWait("other")).release();
		assertThat(waiters).noneMatch(CompletableFuture::isDone);
		this.store.memory.release("busy", "elsewhere");
		waiters.forEach((waiter) -> assertThat(waiter.join()).isEqualTo("busy"));
	}

	@Test
	void leaseShorterThanFourCommandTimeoutsIsRefused() {
		LockRequest tooShort = request("key", LEASE.minusMillis(1), Duration.ZERO);
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquire(tooShort))
			.withMessageContaining("'key'")
			.withMessageContaining("19999 ms")
			.withMessageContaining("20000 ms");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAsync(tooShort));
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.lock(tooShort));
		this.registry.acquire(noWait("key")).release();
	}

}
