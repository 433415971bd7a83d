package io.dlock.engine;

import java.time.Duration;
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
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@Timeout(60)
class LeaseLockRegistryTests {

	private static final Duration LEASE = Duration.ofSeconds(20);

	private final TroubledStore store = new TroubledStore();

	private final LockSettings settings = LockSettings.defaults()
		.withCommandTimeout(Duration.ofMillis(50))
		.withWaitTime(Duration.ofSeconds(5))
		.withShutdownTimeout(Duration.ZERO)
		.withInstance("test");

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store, this.settings);

	@AfterEach
	void nothingIsLeft() {
		Thread.interrupted();
		assertThat(LockHandle.current()).as("handles bound to the thread").isEmpty();
		this.registry.close();
		assertThat(this.registry.queues().size()).as("local queues").isZero();
		assertThat(this.registry.keeper().size()).as("kept leases").isZero();
	}

	private static LockRequest request(String key, Duration lease, Duration waitTime) {
		return LockRequest.builder(key).lease(lease).waitTime(waitTime).build();
	}

	private static LockRequest noWait(String key) {
		return request(key, LEASE, Duration.ZERO);
	}

	private boolean isFreeInStore(String key) {
		return this.store.memory.find(key).isEmpty();
	}

	/**
	 * Take a lock behind the registry's back, as another process does.
	 */
	private void holdElsewhere(String key, Duration lease) {
		this.store.memory.acquire(new AcquireCommand(key, "elsewhere", lease, "another instance", ""));
	}

	private static <T> CompletableFuture<T> inOtherThread(Callable<T> call) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(call.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return result;
	}

	// acquire and release

	@Test
	void acquireAndReleaseCallTheStoreOnceEach() {
		try (LockHandle handle = this.registry.acquire("key")) {
			assertThat(handle.key()).isEqualTo("key");
			assertThat(handle.isValid()).isTrue();
			assertThat(handle.token()).isPositive();
			assertThat(handle.remaining()).isBetween(Duration.ofSeconds(29), Duration.ofSeconds(30));
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
			owners.add(OwnerIds.next());
		}
		assertThat(owners).doesNotHaveDuplicates().allMatch((owner) -> owner.matches("[0-9a-f]{32}"));
		LockHandle first = this.registry.acquire("key");
		String owner = ((HeldLock) first).lease().owner();
		first.release();
		LockHandle second = this.registry.acquire("key");
		assertThat(((HeldLock) second).lease().owner()).isNotEqualTo(owner);
		second.release();
	}

	@Test
	void findTellsWhoHoldsALock() {
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
	void executeReturnsAndReleases() throws Exception {
		assertThat(this.registry.execute(LockRequest.of("key"), LockHandle::key)).isEqualTo("key");
		assertThatIllegalStateException().isThrownBy(() -> this.registry.execute(LockRequest.of("key"), (handle) -> {
			throw new IllegalStateException("of the body");
		})).withMessage("of the body");
		assertThat(isFreeInStore("key")).isTrue();
	}

	// busy

	@Test
	void busyLockIsTriedOnceWithoutWaitTime() {
		holdElsewhere("key", LEASE);
		LockBusyException ex = catchThrowableOfType(LockBusyException.class,
				() -> this.registry.acquire(noWait("key")));
		assertThat(ex).hasMessageContaining("'key'").hasMessageContaining("another instance");
		assertThat(ex.key()).isEqualTo("key");
		assertThat(this.store.acquires).hasValue(1);
		assertThat(this.registry.tryAcquire("key", Duration.ZERO)).isEmpty();
	}

	@Test
	void busyLockIsWaitedForUntilTheEndOfTheWaitTime() {
		holdElsewhere("key", LEASE);
		LockBusyException ex = catchThrowableOfType(LockBusyException.class,
				() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(300))));
		assertThat(ex.waited()).isGreaterThanOrEqualTo(Duration.ofMillis(300));
		assertThat(this.store.acquires.get()).isGreaterThan(2);
	}

	@Test
	void r29LockOfADeadHolderIsHadWhenItsLeaseEndsWithoutAnyNotification() {
		holdElsewhere("key", Duration.ofMillis(400));
		LockHandle handle = this.registry.acquire(request("key", LEASE, LockRequest.FOREVER));
		assertThat(handle.isValid()).isTrue();
		handle.release();
	}

	@Test
	void b21LosingTheRaceAfterAWakeUpDoesNotEndTheWait() throws Exception {
		holdElsewhere("key", LEASE);
		CompletableFuture<Optional<LockHandle>> waiter = inOtherThread(
				() -> this.registry.tryAcquire(request("key", LEASE, Duration.ofSeconds(20))));
		Awaitility.await().until(() -> this.store.acquires.get() > 3);
		// freed and taken again by yet another process before the waiter looks
		this.store.memory.release("key", "elsewhere");
		holdElsewhere("key", LEASE);
		int before = this.store.acquires.get();
		Awaitility.await().until(() -> this.store.acquires.get() > before + 3);
		assertThat(waiter).isNotDone();
		this.store.memory.release("key", "elsewhere");
		waiter.get().orElseThrow().release();
	}

	@Test
	void waitersOfThisProcessAreServedInOrderAndOnlyTheFirstAsksTheStore() throws Exception {
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
		assertThat(this.store.acquires).hasValue(6);
	}

	private int waitersOf(String key) {
		return this.registry.queues().waiters(key);
	}

	@Test
	void waiterBehindAnotherThreadGivesUpAtTheEndOfItsWait() throws Exception {
		LockHandle held = this.registry.acquire("key");
		assertThatExceptionOfType(Exception.class).isThrownBy(
				() -> inOtherThread(() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(100)))).get())
			.withCauseInstanceOf(LockBusyException.class);
		assertThat(this.store.acquires).hasValue(1);
		held.release();
	}

	@Test
	void nothingIsLostUnderContention() throws Exception {
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

	// reentrancy

	@Test
	void r11NestedHandleSharesLeaseAndTokenAndCallsNoStore() {
		LockHandle outer = this.registry.acquire("key");
		LockHandle inner = this.registry.acquire(noWait("key"));
		assertThat(inner.token()).isEqualTo(outer.token());
		assertThat(this.store.acquires).hasValue(1);
		inner.release();
		assertThat(inner.isValid()).isFalse();
		assertThat(outer.isValid()).isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		outer.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void nestedHandlesMayBeReleasedInAnyOrder() {
		LockHandle outer = this.registry.acquire("key");
		LockHandle inner = this.registry.acquire("key");
		outer.release();
		assertThat(inner.isValid()).isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		assertThat(LockHandle.current()).contains(inner);
		inner.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void nestingLeavesNoRenewalBehind() {
		for (int i = 0; i < 5; i++) {
			LockHandle outer = this.registry.acquire("key-" + i);
			this.registry.acquire("key-" + i).release();
			outer.release();
		}
		assertThat(this.registry.keeper().size()).isZero();
		assertThat(this.store.renewals).hasValue(0);
	}

	@Test
	void requestThatIsNotReentrantFindsItsOwnLockBusy() {
		LockHandle outer = this.registry.acquire("key");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.registry
			.acquire(LockRequest.builder("key").waitTime(Duration.ofMillis(20)).reentrant(false).build()));
		outer.release();
	}

	@Test
	void otherThreadIsNotReentrant() {
		LockHandle outer = this.registry.acquire("key");
		assertThat(inOtherThread(() -> this.registry.tryAcquire(noWait("key"))).join()).isEmpty();
		outer.release();
	}

	@Test
	void currentIsTheInnermostHandleOfTheThread() {
		assertThat(LockHandle.current()).isEmpty();
		LockHandle outer = this.registry.acquire("outer");
		LockHandle inner = this.registry.acquire("inner");
		assertThat(LockHandle.current()).containsSame(inner);
		assertThat(inOtherThread(LockHandle::current).join()).isEmpty();
		inner.release();
		assertThat(LockHandle.current()).containsSame(outer);
		outer.release();
	}

	@Test
	void handleMayBeReleasedByAnotherThread() throws Exception {
		LockHandle handle = this.registry.acquire("key");
		inOtherThread(() -> {
			handle.release();
			return null;
		}).get();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(isFreeInStore("key")).isTrue();
		this.registry.acquire(noWait("key")).release();
	}

	@Test
	void handleBoundToAnotherThreadIsReentrantThere() throws Exception {
		LockHandle handle = this.registry.acquire("key");
		inOtherThread(() -> {
			try (LockContext.Binding binding = LockContext.bind(handle)) {
				assertThat(LockHandle.current()).containsSame(handle);
				this.registry.acquire(noWait("key")).release();
			}
			assertThat(LockHandle.current()).isEmpty();
			return null;
		}).get();
		handle.release();
	}

	// renewal and loss

	@Test
	void leaseIsRenewedWhileTheLockIsHeld() {
		LockHandle handle = this.registry.acquire(request("key", Duration.ofMillis(300), Duration.ZERO));
		Awaitility.await().until(() -> this.store.renewals.get() >= 6);
		assertThat(handle.isValid()).isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		handle.release();
	}

	@Test
	void withoutRenewalTheLockIsLostAtItsDeadlineAndTheHolderIsTold() {
		LockRequest request = LockRequest.builder("key").lease(Duration.ofMillis(300)).renew(false).build();
		LockHandle handle = this.registry.acquire(request);
		List<LockHandle> told = Collections.synchronizedList(new ArrayList<>());
		handle.onLost(told::add);
		Awaitility.await().until(() -> !told.isEmpty());
		assertThat(told).containsExactly(handle);
		assertThat(handle.isValid()).isFalse();
		assertThat(this.store.renewals).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::assertHeld);
		LockLostException ex = catchThrowableOfType(LockLostException.class, handle::release);
		assertThat(ex).hasMessageContaining("'key'").hasMessageContaining("300 ms");
		assertThat(ex.token()).isEqualTo(handle.token());
		handle.release();
	}

	@Test
	void r9LossIsThrownEvenIfTheBodySucceeded() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.registry
			.execute(LockRequest.builder("key").lease(Duration.ofMillis(200)).renew(false).build(), (handle) -> {
				Awaitility.await().until(() -> !handle.isValid());
				return "done";
			}));
	}

	@Test
	void r9LossIsSuppressedBeneathTheFailureOfTheBody() {
		IllegalStateException ex = catchThrowableOfType(IllegalStateException.class, () -> this.registry
			.execute(LockRequest.builder("key").lease(Duration.ofMillis(200)).renew(false).build(), (handle) -> {
				Awaitility.await().until(() -> !handle.isValid());
				throw new IllegalStateException("of the body");
			}));
		assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	@Test
	void b14RenewalSurvivesAnyThrowable() {
		this.store.renewalsThrow = true;
		LockHandle handle = this.registry.acquire(request("key", Duration.ofMillis(1200), Duration.ZERO));
		Awaitility.await().until(() -> this.store.renewals.get() >= 2);
		this.store.renewalsThrow = false;
		int before = this.store.renewals.get();
		Awaitility.await().until(() -> this.store.renewals.get() >= before + 4);
		assertThat(handle.isValid()).isTrue();
		handle.release();
	}

	@Test
	void failedRenewalIsRepeatedWithinTheLease() {
		LockHandle handle = this.registry.acquire(request("key", Duration.ofMillis(1200), Duration.ZERO));
		this.store.renewalsAreNotSent = true;
		Awaitility.await().until(() -> this.store.renewals.get() >= 3);
		assertThat(handle.isValid()).as("several failures fit into one lease").isTrue();
		this.store.renewalsAreNotSent = false;
		int before = this.store.renewals.get();
		Awaitility.await().until(() -> this.store.renewals.get() >= before + 3);
		assertThat(handle.isValid()).isTrue();
		handle.release();
	}

	@Test
	void r5UnansweredRenewalsLeaveTheDeadlineAsItWas() {
		this.store.renewalsFail = true;
		LockHandle handle = this.registry.acquire(request("key", Duration.ofMillis(400), Duration.ZERO));
		Awaitility.await().until(() -> !handle.isValid());
		assertThat(isFreeInStore("key")).as("the store had renewed it, but nobody could know").isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(isFreeInStore("key")).as("and the release frees it").isTrue();
	}

	@Test
	void r5RenewalThatIsAnsweredLateCountsFromItsRequest() {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore();
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		LockHandle handle = late.acquire(request("key", Duration.ofMillis(900), Duration.ZERO));
		slow.beforeRenew = () -> {
			if (slow.renewals.get() == 1) {
				clock.pass(Duration.ofMillis(500));
			}
			else {
				slow.renewalsAreNotSent = true;
			}
		};
		clock.pass(Duration.ofMillis(300));
		Awaitility.await().until(() -> slow.renewals.get() >= 2);
		assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(900 - 9 - 2 - 500));
		handle.release();
		late.close();
	}

	@Test
	void leaseOfTheRequestIsTheLeaseInTheStore() {
		LockHandle handle = this.registry.acquire(request("key", Duration.ofSeconds(7), Duration.ZERO));
		assertThat(handle.remaining()).isBetween(Duration.ofSeconds(6), Duration.ofSeconds(7));
		assertThat(this.registry.find("key"))
			.hasValueSatisfying((info) -> assertThat(Duration.between(info.since(), info.until()))
				.isBetween(Duration.ofSeconds(6), Duration.ofSeconds(8)));
		handle.release();
	}

	@Test
	void r8LossIsToldWhileTheRenewalHangs() throws Exception {
		CountDownLatch hang = new CountDownLatch(1);
		LockHandle handle = this.registry.acquire(request("key", Duration.ofMillis(400), Duration.ZERO));
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		this.store.beforeRenew = () -> awaitQuietly(hang);
		assertThat(told.get()).isSameAs(handle);
		hang.countDown();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void r27RefusedRenewalMeansLostAtOnce() throws Exception {
		LockHandle handle = this.registry.acquire(request("key", Duration.ofMillis(900), Duration.ZERO));
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		this.store.memory.clear();
		told.get();
		assertThat(handle.isValid()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release).withMessageContaining("refused");
	}

	@Test
	void b3RenewalThatIsUnderWayDoesNotOutliveTheRelease() throws Exception {
		for (int i = 0; i < 30; i++) {
			CountDownLatch renewing = new CountDownLatch(1);
			CountDownLatch released = new CountDownLatch(1);
			this.store.beforeRenew = () -> {
				renewing.countDown();
				awaitQuietly(released);
			};
			LockHandle handle = this.registry.acquire(request("key", Duration.ofMillis(200), Duration.ZERO));
			renewing.await();
			handle.release();
			released.countDown();
			this.store.beforeRenew = () -> {
			};
		}
		int after = this.store.renewals.get();
		LockHandle other = this.registry.acquire(request("other", Duration.ofMillis(300), Duration.ZERO));
		Awaitility.await().until(() -> this.store.renewals.get() >= after + 3);
		other.release();
		assertThat(this.store.memory.find("key")).isEmpty();
		assertThat(this.registry.keeper().size()).isZero();
	}

	@Test
	void b3ReleaseAtOnceAfterAcquireLeavesNoRenewal() {
		for (int i = 0; i < 20_000; i++) {
			this.registry.acquire(noWait("key")).release();
		}
		assertThat(this.registry.keeper().size()).isZero();
		assertThat(this.store.renewals).hasValue(0);
	}

	@Test
	void b20LossFreesTheLocalQueueForOtherThreads() throws Exception {
		LockHandle lost = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(300)).renew(false).build());
		LockHandle next = inOtherThread(() -> this.registry.acquire(request("key", LEASE, Duration.ofSeconds(20))))
			.get();
		assertThat(next.isValid()).isTrue();
		assertThat(lost.isValid()).isFalse();
		assertThat(next.token()).isGreaterThan(lost.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		assertThat(next.isValid()).as("the late release frees nothing").isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		next.release();
	}

	@Test
	void b8TokenOfALostHandleIsItsOwnAndNotTheSuccessors() throws Exception {
		LockHandle lost = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(300)).renew(false).build());
		long token = lost.token();
		LockHandle next = inOtherThread(() -> this.registry.acquire(request("key", LEASE, Duration.ofSeconds(20))))
			.get();
		assertThat(lost.token()).isEqualTo(token).isLessThan(next.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		next.release();
	}

	@Test
	void threadThatLostTheLockIsToldWhenItAsksAgain() {
		LockHandle lost = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(250)).renew(false).build());
		Awaitility.await().until(() -> !lost.isValid());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5))).release();
	}

	@Test
	void listenerThatThrowsOrBlocksHarmsNobody() throws Exception {
		CountDownLatch block = new CountDownLatch(1);
		LockRequest request = LockRequest.builder("key").lease(Duration.ofMillis(250)).renew(false).build();
		LockHandle handle = this.registry.acquire(request);
		handle.onLost((lost) -> {
			throw new IllegalStateException("of the listener");
		});
		handle.onLost((lost) -> awaitQuietly(block));
		Awaitility.await().until(() -> !handle.isValid());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		LockHandle other = this.registry.acquire(request("other", Duration.ofMillis(300), Duration.ZERO));
		Awaitility.await().until(() -> this.store.renewals.get() >= 3);
		other.release();
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		block.countDown();
		assertThat(told.get()).as("a listener that comes late is told too").isSameAs(handle);
	}

	@Test
	void listenerOfAReleasedLockIsNeverCalled() {
		AtomicInteger calls = new AtomicInteger();
		LockHandle handle = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(250)).renew(false).build());
		handle.onLost((lost) -> calls.incrementAndGet());
		handle.release();
		handle.onLost((lost) -> calls.incrementAndGet());
		LockHandle later = this.registry
			.acquire(LockRequest.builder("later").lease(Duration.ofMillis(300)).renew(false).build());
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		later.onLost(told::complete);
		told.join();
		assertThat(calls).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(later::release);
	}

	// answers that get lost

	@Test
	void b1LostReplyToAnAcquireIsResolvedWithinTheWait() {
		this.store.lostAcquireReplies.set(2);
		LockHandle handle = this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5)));
		assertThat(handle.isValid()).isTrue();
		assertThat(handle.token()).isEqualTo(this.store.memory.find("key").orElseThrow().token() * 1024);
		handle.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r25UnresolvedAcquireIsRevoked() {
		this.store.lostAcquireReplies.set(1);
		LockStoreException ex = catchThrowableOfType(LockStoreException.class,
				() -> this.registry.acquire(noWait("key")));
		assertThat(ex).hasMessageContaining("'key'").hasMessageContaining("revoked");
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		Awaitility.await().untilAsserted(() -> assertThat(this.registry.revoker().size()).isZero());
	}

	@Test
	void r25RevocationGoesOnUntilTheLeaseIsOver() {
		this.store.lostAcquireReplies.set(1);
		this.store.lostReleases.set(5);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		assertThat(this.store.releases.get()).isGreaterThanOrEqualTo(6);
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
	void r2LockThatIsGrantedTooLateIsNotUsed() {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore();
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		slow.afterAcquire = () -> {
			clock.pass(Duration.ofSeconds(17));
			slow.afterAcquire = () -> {
			};
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> late.acquire(noWait("key")))
			.withMessageContaining("so late");
		Awaitility.await().untilAsserted(() -> assertThat(slow.memory.find("key")).isEmpty());
		late.close();
	}

	@Test
	void b41ValidityIsCheckedAfterTheWait() {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore();
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		slow.afterAcquire = () -> {
			clock.pass(Duration.ofSeconds(19));
			slow.afterAcquire = () -> {
			};
		};
		LockHandle handle = late.acquire(request("key", LEASE, Duration.ofMinutes(5)));
		assertThat(handle.isValid()).isTrue();
		assertThat(slow.acquires.get()).isGreaterThan(1);
		handle.release();
		late.close();
	}

	// a store that is down

	@Test
	void outageIsNotReportedAsBusy() {
		this.store.down = true;
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.tryAcquire(noWait("key")))
			.withMessageContaining("connection refused")
			.withMessageContaining("not held");
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.find("key"));
	}

	@Test
	void outageIsNotReportedAsBusyToThoseInTheLocalQueueEither() {
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

	@Test
	void failureThatWillNotPassEndsTheWaitAtOnce() {
		this.store.misconfigured = true;
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquire(request("key", LEASE, LockRequest.FOREVER)))
			.withMessageContaining("no such table");
		assertThat(this.store.acquires).hasValue(1);
	}

	// interrupts

	@Test
	void interruptedThreadDoesNotCallTheStore() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> this.registry.acquire("key"));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.acquires).hasValue(0);
	}

	@Test
	void r50InterruptEndsTheWaitAndKeepsTheFlag() throws Exception {
		holdElsewhere("key", LEASE);
		List<Boolean> flag = Collections.synchronizedList(new ArrayList<>());
		Thread[] waiting = new Thread[1];
		CompletableFuture<LockHandle> waiter = inOtherThread(() -> {
			waiting[0] = Thread.currentThread();
			try {
				return this.registry.acquire(request("key", LEASE, Duration.ofSeconds(30)));
			}
			finally {
				flag.add(Thread.currentThread().isInterrupted());
			}
		});
		Awaitility.await().until(() -> this.store.acquires.get() > 2);
		waiting[0].interrupt();
		assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockInterruptedException.class);
		assertThat(flag).containsExactly(true);
	}

	@Test
	void r50InterruptInTheLocalQueueEndsTheWait() throws Exception {
		LockHandle held = this.registry.acquire("key");
		Thread[] waiting = new Thread[1];
		CompletableFuture<LockHandle> waiter = inOtherThread(() -> {
			waiting[0] = Thread.currentThread();
			return this.registry.acquire(request("key", LEASE, Duration.ofSeconds(30)));
		});
		Awaitility.await().until(() -> waitersOf("key") == 1);
		waiting[0].interrupt();
		assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockInterruptedException.class);
		held.release();
	}

	@Test
	void b25InterruptedThreadReleasesAndKeepsItsFlag() {
		List<Boolean> interruptedInStore = new ArrayList<>();
		LockHandle handle = this.registry.acquire("key");
		this.store.beforeRelease = () -> interruptedInStore.add(Thread.currentThread().isInterrupted());
		Thread.currentThread().interrupt();
		handle.release();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(interruptedInStore).as("a driver would give up").containsExactly(false);
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r50InterruptDuringTheCallRevokesWhatWasAcquired() throws Exception {
		CountDownLatch never = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(never);
		Thread[] waiting = new Thread[1];
		CompletableFuture<LockHandle> waiter = inOtherThread(() -> {
			waiting[0] = Thread.currentThread();
			return this.registry.acquire(request("key", LEASE, Duration.ZERO));
		});
		arrived.await();
		waiting[0].interrupt();
		assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockInterruptedException.class);
		Awaitility.await().until(() -> this.store.releases.get() > 0);
	}

	// shutdown

	@Test
	void r51ClosedRegistryGrantsNothing() {
		this.registry.stop();
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> this.registry.acquire("key"));
		assertThat(this.store.acquires).hasValue(0);
		this.registry.start();
		this.registry.acquire("key").release();
	}

	@Test
	void r51WaitersAreWokenWhenTheRegistryStops() {
		holdElsewhere("elsewhere", LEASE);
		LockHandle held = this.registry.acquire("here");
		CompletableFuture<LockHandle> remote = inOtherThread(
				() -> this.registry.acquire(request("elsewhere", LEASE, LockRequest.FOREVER)));
		CompletableFuture<LockHandle> local = inOtherThread(
				() -> this.registry.acquire(request("here", LEASE, LockRequest.FOREVER)));
		CompletableFuture<LockHandle> async = this.registry.acquireAsync(request("here", LEASE, LockRequest.FOREVER));
		Awaitility.await().until(() -> waitersOf("here") == 2 && this.store.acquires.get() > 3);
		this.registry.stop();
		for (CompletableFuture<LockHandle> waiter : List.of(remote, local, async)) {
			assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
				.withCauseInstanceOf(LockRegistryClosedException.class);
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::release);
	}

	@Test
	void r51RunningHoldersMayFinish() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.withShutdownTimeout(Duration.ofSeconds(30)));
		CountDownLatch finish = new CountDownLatch(1);
		CountDownLatch running = new CountDownLatch(1);
		CompletableFuture<String> body = inOtherThread(() -> patient.execute(LockRequest.of("key"), (handle) -> {
			running.countDown();
			finish.await();
			handle.assertHeld();
			return "finished";
		}));
		running.await();
		CompletableFuture<Void> closing = inOtherThread(() -> {
			patient.close();
			return null;
		});
		Awaitility.await().until(() -> !patient.isRunning());
		assertThat(closing).isNotDone();
		finish.countDown();
		assertThat(body.get()).isEqualTo("finished");
		closing.get();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r51LocksThatAreStillHeldAreTakenAwayAndTheirHoldersTold() {
		LockHandle handle = this.registry.acquire("key");
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		this.store.beforeRelease = () -> assertThat(handle.isValid()).as("first told, then released").isFalse();
		this.registry.stop();
		told.join();
		assertThat(isFreeInStore("key")).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release)
			.withMessageContaining("shut down");
	}

	@Test
	void closeEndsTheThreads() {
		LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.settings);
		other.acquireAsync(LockRequest.of("key")).join().release();
		other.close();
		other.close();
		Awaitility.await().until(other.threads()::isTerminated);
	}

	// requests that can not be honoured

	@Test
	void leaseShorterThanFourCommandTimeoutsIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.acquire(request("key", Duration.ofMillis(199), Duration.ZERO)))
			.withMessageContaining("'key'")
			.withMessageContaining("199 ms")
			.withMessageContaining("200 ms");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.acquireAsync(request("key", Duration.ofMillis(199), Duration.ZERO)));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.lock(request("key", Duration.ofMillis(199), Duration.ZERO)));
		this.registry.acquire(request("key", Duration.ofMillis(200), Duration.ZERO)).release();
	}

}
