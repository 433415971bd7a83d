package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.DirectFieldAccessor;

import io.dlock.LockBusyException;
import io.dlock.LockCongestedException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.test.MachineWatch;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Asynchronous requests end in time, even if the store or the stages of the user block.
 */
@Timeout(120)
class AsyncDeadlineTests {

	private final TroubledStore store = new TroubledStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().shutdownTimeout(Duration.ZERO).build());

	private final CountDownLatch done = new CountDownLatch(1);

	@AfterEach
	void nothingIsLeft() {
		this.done.countDown();
		this.registry.close();
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
		assertThat(this.registry.renewer().size()).isZero();
	}

	private CompletableFuture<LockHandle> acquire(String key, Duration waitTime) {
		return this.registry.acquireAsync(LockRequest.builder(key).waitTime(waitTime).build());
	}

	private void occupyWorkers() {
		occupyWorkers(this.registry);
	}

	private void occupyWorkers(LeaseLockRegistry registry) {
		CountDownLatch asking = new CountDownLatch(EngineThreads.WORKERS);
		this.store.beforeAcquire = () -> {
			asking.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(this.done);
		};
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			registry.acquireAsync(LockRequest.builder("busy " + i).waitTime(Duration.ofSeconds(100)).build());
		}
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
	}

	@Test
	void requestsOnStoppedStoreEndWithoutAFreeWorker() {
		CountDownLatch asking = this.store.holdAcquires(this.done);
		List<CompletableFuture<LockHandle>> requests = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			requests.add(acquire("key " + i, Duration.ofMillis(500)));
		}
		assertThat(asking.getCount()).isZero();
		for (CompletableFuture<LockHandle> request : requests) {
			assertThat(request).failsWithin(Duration.ofSeconds(30))
				.withThrowableThat()
				.havingCause()
				.as("an outage")
				.isExactlyInstanceOf(LockStoreException.class);
		}
		assertThat(this.store.acquires).as("those that reached a worker")
			.hasValueLessThanOrEqualTo(EngineThreads.WORKERS);
	}

	/**
	 * Only a request whose call is under way waits a little longer for its answer.
	 */
	@Test
	@Timing
	void requestWithoutWorkerEndsBeforeThatWithACallUnderWay() throws Exception {
		Duration waitTime = Duration.ofSeconds(2);
		this.store.holdAcquires(this.done);
		for (int i = 1; i < EngineThreads.WORKERS; i++) {
			acquire("busy " + i, Duration.ofSeconds(100));
		}
		long start = System.nanoTime();
		CompletableFuture<Long> asked = acquire("asked", waitTime).handle((handle, ex) -> System.nanoTime() - start);
		Awaitility.await().until(() -> this.store.acquires.get() == EngineThreads.WORKERS);
		try (MachineWatch watch = MachineWatch.start()) {
			assertThat(watch.time(() -> acquire("waiting", waitTime).handle((handle, ex) -> ex).join()))
				.isLessThan(waitTime.plusMillis(50));
		}
		assertThat(Duration.ofNanos(asked.join())).isGreaterThanOrEqualTo(waitTime.plusMillis(100));
	}

	/**
	 * A method with {@code onStoreFailure = PROCEED} must not run without its lock.
	 */
	@Test
	void requestNotSentToAnsweringStoreIsCongested() {
		occupyWorkers();
		this.store.beforeAcquire = () -> {
		};
		this.registry.acquire("answered").release();
		assertThat(acquire("key", Duration.ofMillis(50))).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockCongestedException.class);
	}

	/**
	 * A method with {@code onStoreFailure = PROCEED} may run without its lock only in the
	 * second case.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void a5RequestNotSentIsCongestedIfTheStoreAnswersABatchAndFailedOtherwise(boolean answered) {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				LockSettings.builder().commandTimeout(Duration.ofSeconds(5)).shutdownTimeout(Duration.ZERO).build());
		occupyWorkers(patient);
		this.store.beforeAcquire = () -> {
		};
		this.store.batches = true;
		if (!answered) {
			this.store.down = true;
		}
		LockRequest set = LockRequest.builder("set").waitTime(Duration.ZERO).build();
		assertThat(catchThrowable(() -> patient.acquireAll(set, List.of("a", "b")).release()))
			.satisfies((failure) -> assertThat(failure == null).isEqualTo(answered));
		assertThat(this.store.acquiredTogether).hasSize(1);
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofMillis(50)).build();
		assertThat(patient.acquireAsync(request)).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.havingCause()
			.isExactlyInstanceOf(answered ? LockCongestedException.class : LockStoreException.class);
		this.store.down = false;
		this.done.countDown();
		patient.close();
	}

	/**
	 * The store answers, although it grants nothing.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void a5RequestNotSentIsCongestedIfOthersAreCongestedOrQuarantined(boolean quarantined) {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				LockSettings.builder().commandTimeout(Duration.ofSeconds(5)).shutdownTimeout(Duration.ZERO).build());
		occupyWorkers(patient);
		this.store.beforeAcquire = () -> {
			throw quarantined ? new StoreQuarantinedException(Duration.ofMinutes(1))
					: new StoreCongestedException("no connection became free", null);
		};
		LockRequest tried = LockRequest.builder("tried").waitTime(Duration.ZERO).build();
		assertThat(catchThrowable(() -> patient.acquire(tried))).isInstanceOfSatisfying(LockStoreException.class,
				(failure) -> assertThat(failure.isOutage()).isFalse());
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofMillis(50)).build();
		assertThat(patient.acquireAsync(request)).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockCongestedException.class);
		this.done.countDown();
		patient.close();
	}

	@Test
	void tryBehindRequestWithoutWorkerEnds() {
		occupyWorkers();
		acquire("key", Duration.ofSeconds(100));
		CompletableFuture<Boolean> tried = AbstractLeaseLockRegistryTests
			.inOtherThread(() -> this.registry.lock("key").tryLock());
		assertThat(tried).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockStoreException.class);
	}

	@Test
	void endedRequestIsNotAnnouncedAsAcquired() {
		List<Class<?>> told = Collections.synchronizedList(new ArrayList<>());
		this.registry.addListener((event) -> told.add(event.getClass()));
		this.store.holdAcquires(this.done);
		assertThat(acquire("key", Duration.ofMillis(50))).failsWithin(Duration.ofSeconds(30));
		this.done.countDown();
		Awaitility.await().until(() -> this.store.releases.get() == 1);
		assertThat(told).containsExactly(LockEvent.StoreFailed.class);
	}

	@Test
	void lockGrantedAfterDeadlineIsReleased() {
		this.store.holdAcquires(this.done);
		assertThat(acquire("key", Duration.ofMillis(50))).failsWithin(Duration.ofSeconds(30));
		this.done.countDown();
		Awaitility.await().until(() -> this.store.releases.get() == 1 && this.store.memory.find("key").isEmpty());
	}

	@Test
	void requestBehindLocalHolderIsBusyWhileTheStoreIsStopped() throws Exception {
		LockHandle held = acquire("key", Duration.ZERO).get();
		this.store.holdAcquires(this.done);
		for (int i = 0; i < 2 * EngineThreads.WORKERS; i++) {
			acquire("other " + i, Duration.ofSeconds(100));
		}
		assertThat(acquire("key", Duration.ofMillis(50))).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	/**
	 * The store has named a holder while it waited. A method with
	 * {@code onStoreFailure = PROCEED} must not run without its lock.
	 */
	@Test
	void requestThatIsFirstOnlyAtItsEndIsBusyIfAHolderWasSeen() {
		this.store.memory
			.acquire(new AcquireCommand("key", "elsewhere", Duration.ofMinutes(1), "another instance", ""));
		CompletableFuture<LockHandle> first = acquire("key", Duration.ofMinutes(1));
		CompletableFuture<LockHandle> second = acquire("key", Duration.ofSeconds(3));
		Awaitility.await().until(() -> isAnswered("key"));
		CountDownLatch asking = this.store.holdAcquires(this.done);
		first.cancel(false);
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
		assertThat(second).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
	}

	/**
	 * The holder that was named is one of this process, and has released the lock.
	 */
	@Test
	void requestBehindAReleasedLockIsNotBusyIfTheStoreDoesNotAnswer() {
		LeaseLockRegistry slow = new LeaseLockRegistry(this.store,
				LockSettings.builder().handOffMaxDuration(Duration.ZERO).shutdownTimeout(Duration.ZERO).build());
		LockHandle held = slow.acquireAsync(LockRequest.of("key")).join();
		CompletableFuture<LockHandle> second = slow
			.acquireAsync(LockRequest.builder("key").waitTime(Duration.ofSeconds(3)).build());
		CountDownLatch asking = this.store.holdAcquires(this.done);
		held.releaseAsync();
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
		assertThat(second).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockStoreException.class);
		this.done.countDown();
		slow.close();
	}

	/**
	 * The other permit may be held by any process.
	 */
	@Test
	void requestThatWasRefusedIsBusyIfTheStoreDoesNotAnswerAfterTheReleaseOfAPermit() {
		LeaseLockRegistry slow = new LeaseLockRegistry(this.store,
				LockSettings.builder().handOffMaxDuration(Duration.ZERO).shutdownTimeout(Duration.ZERO).build());
		LockHandle held = slow.acquirePermitAsync(LockRequest.of("key"), 2).join();
		slow.acquirePermitAsync(LockRequest.of("key"), 2).join();
		CompletableFuture<LockHandle> refused = slow
			.acquirePermitAsync(LockRequest.builder("key").waitTime(Duration.ofSeconds(3)).build(), 2);
		Awaitility.await().until(() -> isAnswered(slow, "limit:key"));
		CountDownLatch asking = this.store.holdAcquires(this.done);
		held.releaseAsync().toCompletableFuture().join();
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
		assertThat(refused).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		this.done.countDown();
		slow.close();
	}

	@Test
	void overtakenRequestIsBusyAlthoughTheOvertakerGetsNoAnswer() {
		LockHandle held = this.registry.acquirePermitAsync(LockRequest.of("key"), 1).join();
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofSeconds(3)).build();
		CompletableFuture<LockHandle> overtaken = this.registry.acquirePermitAsync(request, 1);
		Awaitility.await().until(() -> isAnswered("limit:key"));
		CountDownLatch asking = this.store.holdAcquires(this.done);
		this.registry.acquirePermitAsync(LockRequest.of("key"), 2);
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
		assertThat(overtaken).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	private boolean isAnswered(String key) {
		return isAnswered(this.registry, key);
	}

	private static boolean isAnswered(LeaseLockRegistry registry, String key) {
		return registry.queues()
			.waiting()
			.stream()
			.anyMatch((queued) -> queued.context().key().equals(key) && registry.queues().latestAnswer(queued) != null);
	}

	@Test
	void blockingStagesDelayNoOtherLock() throws Exception {
		for (int i = 0; i < 2 * EngineThreads.WORKERS; i++) {
			CountDownLatch attached = new CountDownLatch(1);
			CountDownLatch blocked = new CountDownLatch(1);
			this.store.beforeAcquire = () -> AbstractLeaseLockRegistryTests.awaitQuietly(attached);
			acquire("blocked " + i, Duration.ofSeconds(30)).thenAccept((handle) -> {
				blocked.countDown();
				AbstractLeaseLockRegistryTests.awaitQuietly(this.done);
				handle.release();
			});
			attached.countDown();
			assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
		}
		LockHandle held = acquire("key", Duration.ZERO).get();
		CompletableFuture<LockHandle> next = acquire("key", Duration.ofSeconds(30));
		Awaitility.await().until(() -> TestContexts.waiters(this.registry, "key") == 1);
		held.release();
		assertThat(next).succeedsWithin(Duration.ofSeconds(30)).satisfies(LockHandle::release);
		this.done.countDown();
		Awaitility.await().until(() -> this.registry.counts().held() == 0);
	}

	/**
	 * Each would keep its request and what the application has attached to it.
	 */
	@Test
	void endedRequestsLeaveNothingInTheTimer() {
		ScheduledThreadPoolExecutor timer = (ScheduledThreadPoolExecutor) Objects
			.requireNonNull(new DirectFieldAccessor(this.registry.threads()).getPropertyValue("timer"));
		for (int i = 0; i < 100; i++) {
			acquire("key " + i, Duration.ofHours(1)).join().release();
		}
		LockHandle held = acquire("key", Duration.ZERO).join();
		for (int i = 0; i < 100; i++) {
			CompletableFuture<LockHandle> waiting = acquire("key", Duration.ofHours(1));
			Awaitility.await()
				.pollInterval(Duration.ofMillis(1))
				.until(() -> TestContexts.waiters(this.registry, "key") == 1);
			waiting.cancel(false);
		}
		held.release();
		assertThat(timer.getQueue().size()).isLessThan(10);
	}

	@Test
	void offeredLeaseIsNotRenewed() {
		Duration lease = Duration.ofSeconds(2);
		LeaseLockRegistry shortly = new LeaseLockRegistry(this.store,
				LockSettings.builder().lease(lease).shutdownTimeout(Duration.ZERO).build());
		LockHandle first = shortly.acquireAsync(LockRequest.of("key")).join();
		QueuedRequest sleeper = shortly.queues().join(TestContexts.of("key", new LeaseTerms(lease, true)), () -> {
		});
		first.release();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
		assertThat(this.store.renewals).hasValue(0);
		assertThat(shortly.queues().claim(sleeper)).isNull();
		shortly.queues().leave(sleeper);
		shortly.close();
	}

	@Test
	void lockWaitingForItsReleaseIsNotRenewed() {
		Duration lease = Duration.ofMillis(400);
		LeaseLockRegistry shortly = new LeaseLockRegistry(this.store,
				LockSettings.builder().lease(lease).shutdownTimeout(Duration.ZERO).build());
		LockHandle[] handles = new LockHandle[10];
		for (int i = 0; i < handles.length; i++) {
			handles[i] = shortly.acquireAsync(LockRequest.of("key " + i)).join();
		}
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.done);
		for (LockHandle handle : handles) {
			handle.releaseAsync();
		}
		Awaitility.await().until(() -> this.store.memory.find("key 9").isEmpty());
		this.done.countDown();
		shortly.close();
	}

}
