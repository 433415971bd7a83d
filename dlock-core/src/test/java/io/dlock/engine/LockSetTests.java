package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

/**
 * Several locks, all or none.
 */
class LockSetTests extends AbstractLeaseLockRegistryTests {

	private final LockRequest waiting = request("set", LEASE, Duration.ofSeconds(30));

	private final LockRequest immediate = noWait("set");

	private boolean isAsked(String key) {
		AcquireCommand asked = this.store.asked;
		return asked != null && asked.key().equals(key);
	}

	@Test
	void keysAreLockedInTheOrderOfTheirStorageKeysAndOnce() {
		try (LockSet set = this.registry.acquireAll(List.of("b", "ä", "a", "b", "B"))) {
			assertThat(set.keys()).containsExactly("ä", "B", "a", "b");
			assertThat(set.isValid()).isTrue();
			assertThat(set.remaining()).isPositive();
			set.assertHeld();
			assertThat(this.store.acquires).hasValue(4);
		}
		assertThat(List.of("b", "ä", "a", "B")).allMatch(this::isFreeInStore);
	}

	@Test
	void eachLockHasATokenOfItsOwn() {
		try (LockSet set = this.registry.acquireAll(List.of("a", "b"))) {
			assertThat(set.handle("a").token()).isPositive().isNotEqualTo(set.handle("b").token());
			assertThat(set.handle("a")).isSameAs(set.handles().get(0));
			assertThatIllegalArgumentException().isThrownBy(() -> set.handle("c"))
				.withMessage("'c' is not a key of LockSet[a, b]");
		}
	}

	@Test
	void templateIsNotLocked() {
		try (LockSet set = this.registry.acquireAll(this.immediate, List.of("a"))) {
			assertThat(set.keys()).containsExactly("a");
			assertThat(isFreeInStore("set")).isTrue();
		}
	}

	@Test
	void keysAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAll(List.of()))
			.withMessageContaining("'keys' must have 1 to 64 keys but has 0");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.acquireAll(IntStream.range(0, 65).mapToObj(Integer::toString).toList()))
			.withMessageContaining("'keys' must have 1 to 64 keys but has 65");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAll(Arrays.asList("a", null)))
			.withMessageContaining("'key' must not be null");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAllAsync(this.immediate, List.of()))
			.withMessageContaining("'keys' must have 1 to 64 keys but has 0");
		assertThat(this.store.acquires).hasValue(0);
	}

	/**
	 * The others are given back in the background, and are free for their caller at once.
	 */
	@Test
	void busyLockLeavesNoOtherTaken() {
		holdElsewhere("b", LEASE);
		for (int i = 0; i < 10; i++) {
			assertThatExceptionOfType(LockBusyException.class)
				.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("c", "b", "a")))
				.satisfies((ex) -> assertThat(ex.key()).isEqualTo("b"));
		}
		assertThat(this.registry.tryAcquireAll(this.immediate, List.of("c", "b", "a"))).isEmpty();
		for (String key : List.of("a", "c")) {
			this.registry.acquire(noWait(key)).release();
			assertThat(isFreeInStore(key)).isTrue();
		}
	}

	@Test
	void failedStoreLeavesNoOtherTaken() {
		this.store.afterAcquire = () -> this.store.lostAcquireReplies
			.set(Objects.requireNonNull(this.store.asked).key().equals("b") ? 1 : 0);
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b")));
		Awaitility.await().until(() -> isFreeInStore("a"));
		Awaitility.await().until(() -> isFreeInStore("b"));
	}

	@Test
	void interruptedWaitLeavesNoOtherTaken() throws Exception {
		holdElsewhere("b", LEASE);
		Thread caller = Thread.currentThread();
		CompletableFuture<Void> interrupt = inOtherThread(() -> {
			Awaitility.await().until(() -> isAsked("b"));
			caller.interrupt();
			return null;
		});
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.waiting, List.of("a", "b")));
		assertThat(Thread.interrupted()).isTrue();
		interrupt.join();
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	@Test
	void oneWaitTimeCountsForAll() {
		holdElsewhere("b", LEASE);
		Duration waitTime = LEASE.dividedBy(2);
		TurnedClock clock = new TurnedClock();
		try (LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock)) {
			this.store.afterAcquire = () -> {
				this.store.afterAcquire = () -> {
				};
				clock.pass(waitTime);
			};
			assertThatExceptionOfType(LockBusyException.class)
				.isThrownBy(() -> turned.acquireAll(request("set", LEASE, waitTime), List.of("a", "b")))
				.satisfies((ex) -> assertThat(ex.waited()).isGreaterThanOrEqualTo(waitTime));
			assertThat(this.store.acquires).hasValue(2);
		}
	}

	@Test
	void lockOfTheSetIsNestedInOneThatTheThreadHolds() {
		LockHandle outer = this.registry.acquire("a");
		LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b"));
		assertThat(set.handle("a").token()).isEqualTo(outer.token());
		this.registry.acquire(noWait("b")).release();
		set.release();
		assertThat(outer.isValid()).isTrue();
		assertThat(isFreeInStore("b")).isTrue();
		outer.release();
	}

	@Test
	void lockOfAFutureSetIsNestedInOneThatTheCallerHolds() throws Exception {
		LockHandle outer = this.registry.acquireAsync(request("b", LEASE, LEASE)).get();
		assertThat(this.registry.acquireAllAsync(this.immediate, List.of("a", "b"))).failsWithin(Patience.EVENTUALLY);
		Awaitility.await().until(() -> isFreeInStore("a"));
		LockHandle released = this.registry.acquireAsync(request("b", LEASE, LEASE), outer).get();
		released.release();
		LockSet set = this.registry.acquireAllAsync(this.waiting, List.of("a", "b"), List.of(outer, released)).get();
		assertThat(set.handle("b").token()).isEqualTo(outer.token());
		set.release();
		assertThat(outer.isValid()).isTrue();
		assertThat(isFreeInStore("a")).isTrue();
		outer.release();
		assertThat(isFreeInStore("b")).isTrue();
	}

	@Test
	void minHoldOfAnOuterLockOutlastsASetThatIsGivenBack() {
		LockHandle outer = this.registry
			.acquire(LockRequest.builder("a").lease(LEASE).minHold(LEASE.dividedBy(2)).build());
		holdElsewhere("b", LEASE);
		assertThat(this.registry.tryAcquireAll(this.immediate, List.of("a", "b"))).isEmpty();
		outer.release();
		assertThat(isFreeInStore("a")).isFalse();
	}

	@Test
	void minHoldOfASetThatIsGivenBackIsWaived() {
		holdElsewhere("b", LEASE);
		LockRequest template = LockRequest.builder("set")
			.lease(LEASE)
			.waitTime(Duration.ZERO)
			.minHold(LEASE.multipliedBy(3).dividedBy(4))
			.build();
		assertThat(this.registry.tryAcquireAll(template, List.of("a", "b"))).isEmpty();
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	@Test
	void oneLostLockIsTheLossOfTheSet() {
		LockSet set = this.registry.acquireAll(request("set", SHORT_LEASE, Duration.ZERO), List.of("a", "b", "c"));
		List<String> lost = new CopyOnWriteArrayList<>();
		set.onLost((handle) -> lost.add(handle.key()));
		this.store.memory.inspection().forceRelease("b", set.handle("b").token() / 1024);
		Awaitility.await().untilAsserted(() -> assertThat(lost).containsExactly("b"));
		assertThat(set.isValid()).isFalse();
		assertThat(set.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(set::assertHeld);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(set::release)
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("b"));
		assertThat(isFreeInStore("a")).isTrue();
		assertThat(isFreeInStore("c")).isTrue();
		set.release();
		assertThatIllegalStateException().isThrownBy(() -> set.handle("a").assertHeld());
	}

	@Test
	void setOfHandlesIsReleasedOneByOne() {
		LockHandle a = this.registry.acquireAsync(request("a", LEASE, LEASE)).join();
		LeaseLockHandle b = (LeaseLockHandle) this.registry.acquireAsync(request("b", LEASE, LEASE)).join();
		LeaseInternals.expire(b.hold().lease());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(LockSet.of(List.of(a, b))::release);
		assertThat(isFreeInStore("a")).isTrue();
	}

	@Test
	void lossOfSeveralLocksIsToldOnce() {
		LockRequest brief = LockRequest.builder("set").lease(Duration.ofMillis(200)).renew(false).build();
		LockSet set = this.registry.acquireAll(brief, List.of("a", "b"));
		List<String> lost = new CopyOnWriteArrayList<>();
		set.onLost((handle) -> lost.add(handle.key()));
		Awaitility.await().until(() -> !set.handle("a").isValid() && !set.handle("b").isValid());
		Awaitility.await().untilAsserted(() -> assertThat(lost).hasSize(1));
		assertThat(set.releaseAsync()).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
		assertThat(lost).hasSize(1);
	}

	@Test
	void heldLocksAreRenewedWhileTheCallerWaitsForTheNext() throws Exception {
		holdElsewhere("b", LEASE);
		CompletableFuture<Void> waiter = inOtherThread(() -> {
			try (LockSet set = this.registry.acquireAll(request("set", SHORT_LEASE, Duration.ofSeconds(60)),
					List.of("a", "b"))) {
				assertThat(set.isValid()).isTrue();
			}
			return null;
		});
		Awaitility.await().until(() -> this.store.renewals.get() > 1);
		assertThat(isFreeInStore("a")).isFalse();
		this.store.memory.release("b", "elsewhere");
		waiter.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS);
	}

	@Test
	void lockThatIsLostWhileTheCallerWaitsForTheNextIsToldAndTheNextGivenBack() {
		holdElsewhere("b", LEASE);
		CompletableFuture<LockSet> waiter = inOtherThread(
				() -> this.registry.acquireAll(this.waiting, List.of("a", "b")));
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("A", "b"));
		Awaitility.await().until(() -> isAsked("b") && !isFreeInStore("a") && !isFreeInStore("A"));
		for (String key : List.of("a", "A")) {
			this.store.memory.inspection().forceRelease(key, this.store.memory.find(key).orElseThrow().token());
		}
		this.registry.renewer().leases().forEach(LeaseInternals::expire);
		this.store.memory.release("b", "elsewhere");
		assertThat(waiter).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
		assertThat(future).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
		Awaitility.await().until(() -> isFreeInStore("b"));
	}

	@Test
	void lossOfALockEndsTheWaitForTheNext() {
		holdElsewhere("b", Duration.ofHours(1));
		LockRequest patient = request("set", LEASE, LockRequest.FOREVER);
		CompletableFuture<LockSet> waiter = inOtherThread(() -> this.registry.acquireAll(patient, List.of("a", "b")));
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(patient, List.of("A", "b"));
		Awaitility.await().until(() -> waitersOf("b") == 1);
		this.registry.renewer().leases().forEach(LeaseInternals::expire);
		for (CompletableFuture<LockSet> each : List.of(waiter, future)) {
			assertThat(each).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(LockLostException.class);
		}
		assertThat(isFreeInStore("b")).isFalse();
		Awaitility.await().until(() -> isFreeInStore("a") && isFreeInStore("A"));
	}

	@Test
	void callersWithOverlappingSetsDoNotWaitForEachOther() throws Exception {
		List<String> keys = List.of("a", "b", "c", "d");
		CyclicBarrier barrier = new CyclicBarrier(4);
		List<CompletableFuture<Integer>> callers = new ArrayList<>();
		int[] balance = new int[1];
		for (int i = 0; i < 4; i++) {
			callers.add(inOtherThread(() -> {
				awaitQuietly(barrier);
				int done = 0;
				for (int n = 0; n < 500; n++) {
					List<String> some = new ArrayList<>(keys);
					Collections.shuffle(some, ThreadLocalRandom.current());
					try (LockSet set = this.registry.acquireAll(this.waiting, some.subList(0, 3))) {
						balance[0]++;
						set.assertHeld();
						done++;
					}
				}
				return done;
			}));
		}
		for (CompletableFuture<Integer> caller : callers) {
			assertThat(caller.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(500);
		}
		// any two sets of three out of four keys overlap
		assertThat(balance[0]).isEqualTo(2000);
	}

	@Test
	void errorOfOneHandleKeepsNoOtherLock() {
		LockHandle a = this.registry.acquire("a");
		LockHandle b = this.registry.acquire("b");
		LockHandle failing = mock(LockHandle.class);
		OutOfMemoryError error = new OutOfMemoryError("of a listener");
		doThrow(error).when(failing).release();
		given(failing.releaseAsync()).willReturn(CompletableFuture.failedFuture(error));
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> LockSet.of(List.of(a, failing, failing)).release());
		assertThat(isFreeInStore("a")).isTrue();
		assertThat(LockSet.of(List.of(b, failing, failing)).releaseAsync()).failsWithin(Patience.EVENTUALLY);
		assertThat(isFreeInStore("b")).isTrue();
	}

	@Test
	void futureCompletesWithLocksThatBelongToNoThread() throws Exception {
		LockSet set = this.registry.acquireAllAsync(this.waiting, List.of("b", "a")).get();
		assertThat(set.keys()).containsExactly("a", "b");
		assertThat(LockHandle.current()).isEmpty();
		assertThat(set.releaseAsync()).succeedsWithin(Patience.EVENTUALLY);
		assertThat(isFreeInStore("a")).isTrue();
		assertThat(isFreeInStore("b")).isTrue();
	}

	@Test
	void futureFailsIfALockStaysBusy() {
		holdElsewhere("b", LEASE);
		assertThat(this.registry.acquireAllAsync(this.immediate, List.of("a", "b"))).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBusyException.class);
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	@Test
	void cancelledFutureLeavesNoLockTaken() {
		holdElsewhere("b", LEASE);
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("a", "b", "c"));
		Awaitility.await().until(() -> isAsked("b"));
		assertThat(isFreeInStore("a")).isFalse();
		future.cancel(false);
		Awaitility.await().until(() -> isFreeInStore("a"));
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

	/**
	 * The clock is read when the second request has joined its queue.
	 */
	@Test
	void futureThatIsCancelledWhileTheNextLockIsRequestedLeavesNoLockTaken() {
		holdElsewhere("b", LEASE);
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock);
		CountDownLatch returned = new CountDownLatch(1);
		this.store.holdAcquires(returned);
		CompletableFuture<LockSet> future = turned.acquireAllAsync(request("set", LEASE, Duration.ofHours(1)),
				List.of("a", "b"));
		clock.onReading = () -> {
			if (turned.queues().size() == 2) {
				future.cancel(false);
			}
		};
		returned.countDown();
		Awaitility.await().until(future::isDone);
		Awaitility.await().until(() -> turned.queues().size() == 0);
		turned.close();
	}

	/**
	 * The error comes when all locks are granted.
	 */
	@Test
	void errorFailsTheFutureAndLeavesNoLockTaken() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock);
		clock.onReading = () -> {
			if (StackWalker.getInstance()
				.walk((frames) -> frames.anyMatch((frame) -> frame.getClassName().contains("LockSetAcquirer")
						&& frame.getMethodName().equals("complete")))) {
				clock.onReading = () -> {
				};
				throw new NoClassDefFoundError("com/example/Missing");
			}
		};
		assertThat(turned.acquireAllAsync(this.waiting, List.of("a", "b"))).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(NoClassDefFoundError.class);
		Awaitility.await().until(() -> isFreeInStore("a") && isFreeInStore("b"));
		turned.close();
	}

	@Test
	void closedRegistryEndsTheWaitForASet() {
		holdElsewhere("b", LEASE);
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("a", "b"));
		Awaitility.await().until(() -> isAsked("b"));
		this.registry.close();
		assertThat(future).failsWithin(Patience.EVENTUALLY);
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	@Test
	void permitsAndLocksOfOtherRegistriesHaveNoPlaceInTheOrder() {
		try (CapturedLog log = CapturedLog.of(LockSetAcquirer.class);
				LeaseLockRegistry other = new LeaseLockRegistry(new MemoryLockStore(), this.settings);
				LockHandle permit = this.registry.acquirePermit(this.immediate, 1);
				LockHandle elsewhere = other.acquire("b")) {
			this.registry.acquireAll(this.immediate, List.of("a", "c")).release();
			assertThat(log.events()).isEmpty();
			assertThat(permit.isValid() && elsewhere.isValid()).isTrue();
		}
	}

	@Test
	void lowerKeyThatIsHeldInAnotherRegistryWarns() {
		try (CapturedLog log = CapturedLog.of(LockSetAcquirer.class);
				LeaseLockRegistry other = new LeaseLockRegistry(new MemoryLockStore(), this.settings);
				LockHandle elsewhere = other.acquire("a");
				LockHandle outer = this.registry.acquire("b")) {
			this.registry.acquireAll(this.immediate, List.of("a", "b")).release();
			assertThat(log.events()).hasSize(1);
			assertThat(outer.isValid() && elsewhere.isValid()).isTrue();
		}
	}

	@Test
	void lowerKeyInsideAHoldWarnsOnce() {
		try (CapturedLog log = CapturedLog.of(LockSetAcquirer.class); LockHandle outer = this.registry.acquire("b")) {
			this.registry.acquireAll(this.immediate, List.of("b", "c")).release();
			try (LockSet held = this.registry.acquireAll(this.immediate, List.of("b", "c"))) {
				this.registry.acquireAll(this.immediate, List.of("b", "c")).release();
				assertThat(held.isValid()).isTrue();
			}
			assertThat(log.events()).isEmpty();
			this.registry.acquireAll(this.immediate, List.of("a", "b")).release();
			this.registry.acquireAll(this.immediate, List.of("a", "c")).release();
			assertThat(log.events()).singleElement()
				.asString()
				.contains("Lock 'a' is requested by a thread that holds 'b'");
			assertThat(outer.isValid()).isTrue();
		}
	}

}
