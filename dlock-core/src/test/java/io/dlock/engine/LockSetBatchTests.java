package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockCongestedException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.ReleaseMode;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Several locks on a store that acquires them together.
 */
class LockSetBatchTests extends AbstractLockSetTests {

	private static final StoreException LOST = new StoreException(Effect.UNKNOWN, false, "the reply was lost", null);

	private final Queue<String> events = new ConcurrentLinkedQueue<>();

	LockSetBatchTests() {
		super(true);
	}

	private void fail(int index, StoreException failure) {
		this.store.afterBatch = (results) -> {
			List<AcquireResult> changed = new ArrayList<>(results);
			changed.set(index, new AcquireResult.Failed(failure));
			this.store.afterBatch = (later) -> later;
			return changed;
		};
	}

	private void awaitFree(String... keys) {
		for (String key : keys) {
			Awaitility.await().until(() -> isFreeInStore(key));
		}
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

	@Test
	void onlyTheFirstLockOfASetIsWaitedForInTheStore() {
		this.registry.membership().listen();
		Awaitility.await().until(() -> this.registry.membership().address() != null);
		holdElsewhere("a", LEASE);
		holdElsewhere("b", LEASE);
		CompletableFuture<List<AcquireResult>> answers = new CompletableFuture<>();
		this.store.afterBatch = (results) -> {
			answers.complete(results);
			return results;
		};
		CompletableFuture<LockSet> set = this.registry.acquireAllAsync(this.waiting, List.of("a", "b"));
		assertThat(answers.join()).hasSize(2);
		assertThat(Waiting.processes(this.store.memory, "a")).isOne();
		assertThat(Waiting.processes(this.store.memory, "b")).isZero();
		set.cancel(false);
		this.store.memory.clear();
	}

	@Test
	void allLocksTakeOneCallAndGoWithOneCall() throws Exception {
		this.registry.acquireAll(this.immediate, List.of("c", "a", "b")).release();
		assertThat(this.store.acquiredTogether).containsExactly(List.of("a", "b", "c"));
		assertThat(this.store.releasedTogether).containsExactly(List.of("c", "b", "a"));
		assertThat(this.registry.renewer().size()).as("renewed leases").isZero();
		LockSet set = this.registry.acquireAllAsync(this.immediate, List.of("e", "d")).get();
		assertThat(this.store.acquiredTogether).hasSize(2).contains(List.of("d", "e"));
		set.release();
		assertThat(this.store.releasedTogether).hasSize(2).contains(List.of("e", "d"));
		awaitFree("a", "b", "c", "d", "e");
	}

	@Test
	void oneLockTakesTheOrdinaryCall() {
		this.registry.acquireAll(this.immediate, List.of("a")).release();
		this.registry.acquireAll(LockRequest.builder("set").mode(LockMode.SHARED).build(), List.of("a", "b")).release();
		assertThat(this.store.acquiredTogether).isEmpty();
	}

	@Test
	void locksBehindABusyOneAreGivenBackWhileTheCallerWaits() throws Exception {
		holdElsewhere("b", LEASE);
		CompletableFuture<LockSet> waiter = inOtherThread(
				() -> this.registry.acquireAll(this.waiting, List.of("a", "b", "c")));
		Awaitility.await().until(() -> this.store.acquiredTogether.contains(List.of("a", "b", "c")));
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("A", "b", "c"));
		Awaitility.await().until(() -> !isFreeInStore("a") && !isFreeInStore("A") && isFreeInStore("c"));
		this.store.memory.release("b", "elsewhere");
		CompletableFuture.anyOf(waiter, future).get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS);
		(waiter.isDone() ? waiter : future).get().releaseAsync();
		waiter.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS).releaseAsync();
		future.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS).releaseAsync();
		awaitFree("a", "A", "b", "c");
	}

	@Test
	void locksOfThisProcessAreNotRequestedAhead() {
		try (LockHandle held = this.registry.acquireAsync(request("c", LEASE, LEASE)).join()) {
			assertThat(this.registry.tryAcquireAll(this.immediate, List.of("a", "b", "c", "d"))).isEmpty();
			assertThat(held.isValid()).isTrue();
		}
		assertThat(this.store.acquiredTogether).containsExactly(List.of("a", "b"));
		awaitFree("a", "b");
	}

	@Test
	void lockThatTheCallerHasLostIsNotAcquiredAnew() {
		LockHandle outer = this.registry.acquire(request("c", LEASE, Duration.ZERO));
		LeaseInternals.expire(((LeaseLockHandle) outer).hold().lease());
		this.store.memory.clear();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b", "c")));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::release);
		awaitFree("a", "b", "c");
	}

	@Test
	void keyThatTheCallerHoldsMayBeInTheMiddle() throws Exception {
		LockHandle outer = this.registry.acquire(request("b", LEASE, Duration.ZERO));
		try (LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b", "c"))) {
			assertThat(set.keys()).containsExactly("a", "b", "c");
			assertThat(set.handle("b").token()).isEqualTo(outer.token());
			assertThat(set.handle("c").token()).isNotEqualTo(set.handle("a").token());
		}
		assertThat(outer.isValid()).isTrue();
		outer.release();
		awaitFree("a", "b", "c");
	}

	@Test
	void errorOfOneReleaseKeepsNoOtherLock() {
		try (LeaseLockRegistry async = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().releaseMode(ReleaseMode.ASYNC).build())) {
			LockSet set = async.acquireAll(this.immediate, List.of("a", "b", "c"));
			this.store.releasesThrow = true;
			assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(set::release)
				.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(2));
			assertThat(async.renewer().size()).isZero();
			assertThat(async.queues().size()).isZero();
			this.store.releasesThrow = false;
			this.store.memory.clear();
		}
	}

	@Test
	void lostAnswerForOneLockIsResolved() {
		fail(1, LOST);
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b", "c")))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("b"));
		awaitFree("a", "b", "c");
		fail(1, LOST);
		try (LockSet set = this.registry.acquireAll(this.waiting, List.of("a", "b", "c"))) {
			set.assertHeld();
		}
		awaitFree("a", "b", "c");
	}

	@Test
	void lostAnswerForTheFirstLockIsResolved() {
		fail(0, LOST);
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b", "c")))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("a"));
		awaitFree("a", "b", "c");
		fail(0, LOST);
		try (LockSet set = this.registry.acquireAll(this.waiting, List.of("a", "b", "c"))) {
			set.assertHeld();
		}
		awaitFree("a", "b", "c");
	}

	@Test
	void lostCallIsResolvedForAllLocks() {
		this.store.lostAcquireReplies.set(3);
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b", "c")));
		awaitFree("a", "b", "c");
		this.store.lostAcquireReplies.set(3);
		LockSet set = this.registry.acquireAllAsync(this.waiting, List.of("a", "b", "c")).join();
		set.assertHeld();
		set.release();
		awaitFree("a", "b", "c");
	}

	@Test
	void congestionForOneLockIsTold() {
		holdElsewhere("c", LEASE);
		fail(2, new StoreCongestedException("no connection became free", null));
		assertThatExceptionOfType(LockCongestedException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b", "c", "d")))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("c"));
		awaitFree("a", "b", "d");
	}

	@Test
	void storeThatForgetsAnswersIsAskedAgain() {
		this.store.afterBatch = (results) -> results.subList(0, 1);
		try (LockSet set = this.registry.acquireAll(this.waiting, List.of("a", "b", "c"))) {
			set.assertHeld();
		}
		this.store.afterBatch = (results) -> {
			throw new IllegalStateException("a store with a bug");
		};
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b")));
		this.store.afterBatch = (results) -> {
			throw new NoClassDefFoundError("a store with a bug");
		};
		assertThatExceptionOfType(NoClassDefFoundError.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("d", "e")));
		awaitFree("a", "b", "c", "e");
	}

	@Test
	void interruptDuringTheCallLeavesNoLockTaken() throws Exception {
		CountDownLatch never = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(never);
		Thread caller = Thread.currentThread();
		CompletableFuture<Void> interrupt = inOtherThread(() -> {
			arrived.await();
			this.store.beforeAcquire = () -> {
			};
			caller.interrupt();
			return null;
		});
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.waiting, List.of("a", "b", "c")));
		assertThat(Thread.interrupted()).isTrue();
		interrupt.get();
		awaitFree("a", "b", "c");
	}

	@Test
	void futureThatIsCancelledDuringTheCallLeavesNoLockTaken() throws Exception {
		CountDownLatch returned = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(returned);
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("a", "b", "c"));
		arrived.await();
		future.cancel(false);
		returned.countDown();
		Awaitility.await().until(() -> this.store.acquires.get() >= 3);
		awaitFree("a", "b", "c");
	}

	@Test
	void futureThatIsCancelledBeforeItsLocksAreTakenLeavesNoneTaken() {
		CountDownLatch returned = new CountDownLatch(1);
		this.store.holdAcquires(returned);
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("a", "b", "c"));
		this.registry.addListener((event) -> future.cancel(false));
		returned.countDown();
		awaitFree("a", "b", "c");
		assertThat(future).isCancelled();
	}

	@Test
	void waitForTheFirstLockDoesNotTakeTheOthersAgainAndAgain() throws Exception {
		holdElsewhere("a", LEASE);
		CompletableFuture<LockSet> waiter = inOtherThread(
				() -> this.registry.acquireAll(this.waiting, List.of("a", "b")));
		Awaitility.await().until(() -> this.store.acquires.get() > 5);
		assertThat(this.store.acquiredTogether).hasSize(1);
		Awaitility.await().until(() -> isFreeInStore("b"));
		this.store.memory.release("a", "elsewhere");
		waiter.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS).releaseAsync();
		awaitFree("a", "b");
	}

	@Test
	void eventsAreThoseOfLocksThatTheCallerGot() {
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Acquired || event instanceof LockEvent.Busy
					|| event instanceof LockEvent.Released) {
				this.events.add(event.getClass().getSimpleName() + " " + event.key());
			}
		});
		holdElsewhere("c", LEASE);
		assertThat(this.registry.tryAcquireAll(this.immediate, List.of("a", "b", "c", "d"))).isEmpty();
		awaitFree("a", "b", "d");
		assertThat(this.store.acquiredTogether).hasSize(1);
		assertThat(this.store.acquires).hasValue(4);
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).containsExactlyInAnyOrder("Acquired a", "Acquired b", "Busy c",
					"Released a", "Released b"));
		this.events.clear();
		this.registry.acquireAll(this.immediate, List.of("a", "b")).release();
		assertThat(this.events).containsExactly("Acquired a", "Acquired b", "Released b", "Released a");
	}

	@Test
	void releaseThatIsLostIsRepeated() {
		LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b", "c"));
		this.store.lostReleases.set(1);
		set.release();
		assertThat(this.store.releasedTogether).hasSize(1);
		awaitFree("a", "b", "c");
	}

	@Test
	void releaseThatIsLostForOneLockIsRepeatedForThatOne() {
		LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b", "c"));
		this.store.unreachable = (key) -> key.equals("b");
		set.release();
		assertThat(isFreeInStore("a") && isFreeInStore("c")).isTrue();
		assertThat(isFreeInStore("b")).isFalse();
		this.store.unreachable = (key) -> false;
		awaitFree("b");
	}

	/**
	 * The failure is not one of the store, and no lock has an answer.
	 */
	@Test
	void releaseThatFailsIsRepeatedForEachLock() {
		LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b", "c"));
		this.store.beforeRelease = () -> {
			this.store.beforeRelease = () -> {
			};
			throw new IllegalStateException("of the driver");
		};
		set.release();
		awaitFree("a", "b", "c");
	}

	@Test
	void lockThatIsWaitedForHereIsPassedOn() throws Exception {
		LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b", "c"));
		CompletableFuture<LockHandle> waiter = this.registry.acquireAsync(request("b", LEASE, Duration.ofSeconds(30)));
		Awaitility.await().until(() -> waitersOf("b") == 1);
		set.release();
		waiter.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS).release();
		awaitFree("a", "b", "c");
		assertThat(this.store.releasedTogether.stream().flatMap(List::stream)).doesNotContain("b");
	}

	@Test
	void lockBehindABusyOneIsPassedOnToARequestOfThisProcess() throws Exception {
		holdElsewhere("b", LEASE);
		CountDownLatch returned = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(returned);
		CompletableFuture<LockSet> set = inOtherThread(
				() -> this.registry.acquireAll(this.waiting, List.of("a", "b", "c")));
		arrived.await();
		CompletableFuture<LockHandle> waiter = this.registry.acquireAsync(request("c", LEASE, Duration.ofSeconds(30)));
		this.store.beforeAcquire = () -> {
		};
		returned.countDown();
		waiter.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS).release();
		this.store.memory.release("b", "elsewhere");
		set.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS).releaseAsync();
		awaitFree("a", "b", "c");
	}

	@Test
	void minHoldOfEachLockStands() {
		LockRequest template = LockRequest.builder("set").lease(LEASE).minHold(Duration.ofSeconds(3)).build();
		this.registry.acquireAll(template, List.of("a", "b")).release();
		assertThat(List.of("a", "b")).noneMatch(this::isTakenByAStranger);
		assertThat(this.store.releasedTogether).isEmpty();
		awaitFree("a", "b");
	}

	private boolean isTakenByAStranger(String key) {
		return this.store.memory.acquire(
				new AcquireCommand(key, "stranger", LEASE, "another instance", "")) instanceof AcquireResult.Granted;
	}

}
