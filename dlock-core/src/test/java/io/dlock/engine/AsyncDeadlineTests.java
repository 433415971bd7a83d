package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.DirectFieldAccessor;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.memory.Waiting;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Asynchronous requests end in time, even if the store or the stages of the user block.
 */
@Timeout(120)
class AsyncDeadlineTests extends AbstractAsyncRequestTests {

	@Test
	void requestsOnStoppedStoreEndWithoutAFreeWorker() throws Exception {
		CountDownLatch asking = this.store.holdAcquires(this.done);
		List<CompletableFuture<LockHandle>> requests = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			requests.add(acquire("key " + i, Duration.ofMillis(500)));
		}
		Awaitility.await().until(() -> asking.getCount() == 0);
		int outages = 0;
		for (CompletableFuture<LockHandle> request : requests) {
			Throwable failure = request.handle((handle, ex) -> ex).get(30, TimeUnit.SECONDS);
			assertThat(failure).isInstanceOf(LockStoreException.class);
			outages += ((LockStoreException) failure).isOutage() ? 1 : 0;
		}
		assertThat(outages).as("those that were sent and got no answer")
			.isPositive()
			.isLessThanOrEqualTo(EngineThreads.WORKERS);
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
			Duration limit = waitTime.plusMillis(50);
			MachineWatch.repeatIfLate(
					() -> assertThat(watch.time(() -> acquire("waiting", waitTime).handle((handle, ex) -> ex).join()))
						.isLessThan(limit));
		}
		assertThat(Duration.ofNanos(asked.join())).isGreaterThanOrEqualTo(waitTime.plusMillis(100));
	}

	/**
	 * Have a request end whose call to the store is under way. One that ends before its
	 * worker has begun is repeated.
	 */
	private void endDuringTheCall() {
		CountDownLatch asking = this.store.holdAcquires(this.done);
		do {
			assertThat(acquire("key", Duration.ofMillis(50))).failsWithin(Duration.ofSeconds(30))
				.withThrowableOfType(ExecutionException.class);
		}
		while (asking.getCount() > 0);
	}

	@Test
	void endedRequestIsNotAnnouncedAsAcquired() {
		List<Class<?>> told = Collections.synchronizedList(new ArrayList<>());
		this.registry.addListener((event) -> told.add(event.getClass()));
		endDuringTheCall();
		this.done.countDown();
		Awaitility.await().until(() -> this.store.releases.get() == 1);
		assertThat(told).containsOnly(LockEvent.StoreFailed.class);
	}

	@Test
	void lockGrantedAfterDeadlineIsReleased() {
		endDuringTheCall();
		this.done.countDown();
		Awaitility.await().until(() -> this.store.releases.get() == 1 && this.store.memory.find("key").isEmpty());
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
		LockHandle held = acquire("key", Duration.ofSeconds(30)).get();
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
		for (int i = 0; i < 100; i++) {
			acquire("key " + i, Duration.ofHours(1)).join().release();
		}
		LockHandle held = acquire("key", Duration.ofSeconds(30)).join();
		for (int i = 0; i < 100; i++) {
			CompletableFuture<LockHandle> waiting = acquire("key", Duration.ofHours(1));
			Awaitility.await()
				.pollInterval(Duration.ofMillis(1))
				.until(() -> TestContexts.waiters(this.registry, "key") == 1);
			waiting.cancel(false);
		}
		held.release();
		assertThat(alarms(this.registry)).isLessThan(10);
	}

	/**
	 * The store is asked for a key by one request of this process at a time.
	 */
	@Test
	void requestThatEndsDuringItsCallKeepsItsPlaceUntilTheAnswer() {
		endDuringTheCall();
		CompletableFuture<LockHandle> next = acquire("key", Duration.ofSeconds(60));
		assertThat(TestContexts.waiters(this.registry, "key")).isOne();
		this.done.countDown();
		assertThat(next).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
	}

	private static int alarms(LeaseLockRegistry registry) {
		ScheduledThreadPoolExecutor timer = (ScheduledThreadPoolExecutor) Objects
			.requireNonNull(new DirectFieldAccessor(registry.threads()).getPropertyValue("timer"));
		return timer.getQueue().size();
	}

	/**
	 * A registry whose requests wait for signals of the store, for a lock that is held
	 * elsewhere.
	 */
	private LeaseLockRegistry listening() {
		LeaseLockRegistry listening = another(new LeaseLockRegistry(this.store,
				LockSettings.builder().maxPollInterval(Duration.ofHours(1)).shutdownTimeout(Duration.ZERO).build()));
		listening.membership().listen();
		Awaitility.await().until(() -> listening.membership().address() != null);
		this.store.memory.acquire(new AcquireCommand("key", "elsewhere", Duration.ofHours(2), "elsewhere", ""));
		return listening;
	}

	@Test
	void pauseThatASignalEndsLeavesNothingInTheTimer() {
		LeaseLockRegistry listening = listening();
		CompletableFuture<LockHandle> waiting = listening
			.acquireAsync(LockRequest.builder("key").waitTime(Duration.ofHours(1)).build());
		Awaitility.await().until(() -> Waiting.processes(this.store.memory, "key") == 1);
		for (int i = 0; i < 100; i++) {
			int before = this.store.acquires.get();
			this.store.call.accept("key");
			Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> this.store.acquires.get() > before);
		}
		assertThat(alarms(listening)).isLessThan(10);
		waiting.cancel(false);
	}

	@Test
	void requestThatEndsDuringItsCallLeavesNothingInTheTimer() {
		LeaseLockRegistry listening = listening();
		for (int i = 0; i < 50; i++) {
			CompletableFuture<CompletableFuture<LockHandle>> asked = new CompletableFuture<>();
			this.store.beforeAcquire = () -> asked.join().cancel(false);
			asked.complete(listening.acquireAsync(LockRequest.builder("key").waitTime(Duration.ofHours(1)).build()));
			Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> listening.queues().size() == 0);
		}
		assertThat(alarms(listening)).isLessThan(10);
	}

	@Test
	void offeredLeaseIsNotRenewed() {
		Duration lease = Duration.ofSeconds(10);
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore(new MemoryLockStore(clock::nanoTime));
		LeaseLockRegistry turned = another(new LeaseLockRegistry(slow,
				LockSettings.builder().lease(lease).shutdownTimeout(Duration.ZERO).build(), clock));
		LockHandle first = turned.acquireAsync(LockRequest.of("key")).join();
		QueuedRequest sleeper = turned.queues().join(TestContexts.of("key", new LeaseTerms(lease, true)), () -> {
		});
		first.release();
		for (int i = 0; i < 2; i++) {
			clock.pass(lease.dividedBy(2));
			AbstractHandOffTests.awaitCheckOfLeases(turned);
		}
		assertThat(slow.memory.find("key")).isEmpty();
		assertThat(slow.renewals).hasValue(0);
		assertThat(turned.queues().claim(sleeper)).isNull();
		turned.queues().leave(sleeper);
	}

	@Test
	void lockWaitingForItsReleaseIsNotRenewed() {
		Duration lease = Duration.ofMillis(400);
		LeaseLockRegistry shortly = another(new LeaseLockRegistry(this.store,
				LockSettings.builder().lease(lease).shutdownTimeout(Duration.ZERO).build()));
		LockHandle[] handles = new LockHandle[EngineThreads.WORKERS + 1];
		for (int i = 0; i < handles.length; i++) {
			handles[i] = shortly.acquireAsync(LockRequest.of("key " + i)).join();
		}
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.done);
		for (LockHandle handle : handles) {
			handle.releaseAsync();
		}
		Awaitility.await().until(() -> this.store.memory.find("key " + EngineThreads.WORKERS).isEmpty());
	}

}
