package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class AsyncAcquisitionTests {

	private static final Duration LEASE = Duration.ofSeconds(20);

	private final TroubledStore store = new TroubledStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().commandTimeout(LEASE.dividedBy(4)).shutdownTimeout(Duration.ZERO).build());

	@AfterEach
	void nothingIsLeft() {
		this.registry.close();
		assertThat(this.registry.queues().size()).isZero();
		assertThat(this.registry.renewer().size()).isZero();
	}

	private CompletableFuture<LockHandle> acquire(String key, Duration waitTime) {
		return this.registry.acquireAsync(LockRequest.builder(key).lease(LEASE).waitTime(waitTime).build());
	}

	/**
	 * Hold a lock longer than a test waits for anything.
	 */
	private void holdElsewhere(String key) {
		Duration lease = Duration.ofHours(1);
		this.store.memory.acquire(new AcquireCommand(key, "elsewhere", lease, "another instance", ""));
	}

	@Test
	void handleBelongsToNoThread() throws Exception {
		LockHandle handle = acquire("key", Duration.ZERO).get();
		assertThat(handle.isValid()).isTrue();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(this.registry.tryAcquire("key", Duration.ZERO)).as("not reentrant").isEmpty();
		handle.release();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void lockOfARequestThatEndsWhileItIsDeliveredIsReleased() {
		CompletableFuture<CompletableFuture<LockHandle>> asked = new CompletableFuture<>();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Acquired) {
				asked.join().cancel(false);
			}
		});
		asked.complete(this.registry
			.acquireAsync(LockRequest.builder("key").waitTime(Duration.ZERO).minHold(Duration.ofMinutes(5)).build()));
		assertThat(asked.join()).failsWithin(Duration.ofSeconds(30)).withThrowableOfType(CancellationException.class);
		Awaitility.await().until(() -> this.registry.counts().held() == 0 && this.store.memory.find("key").isEmpty());
	}

	@Test
	void busyLockFailsTheFutureAfterTheWait() {
		holdElsewhere("key");
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> acquire("key", Duration.ofSeconds(1)).get())
			.withCauseInstanceOf(LockBusyException.class);
	}

	@Test
	void waitBehindAThreadOfThisProcessEnds() {
		LockHandle held = this.registry.acquire("key");
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> acquire("key", Duration.ofSeconds(1)).get())
			.withCauseInstanceOf(LockBusyException.class);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> acquire("key", Duration.ZERO).get())
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	@Test
	void manyWaitersNeedNoThreadEach() throws Exception {
		holdElsewhere("key");
		AtomicInteger done = new AtomicInteger();
		List<CompletableFuture<Void>> waiters = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			waiters.add(acquire("key", Duration.ofSeconds(30)).thenAccept((handle) -> {
				done.incrementAndGet();
				handle.release();
			}));
		}
		assertThat(Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("dlock-worker")))
			.hasSizeLessThanOrEqualTo(EngineThreads.WORKERS * 3);
		this.store.memory.release("key", "elsewhere");
		CompletableFuture.allOf(waiters.toArray(CompletableFuture[]::new)).get();
		assertThat(done).hasValue(500);
	}

	@Test
	void noSignalIsLostWithShortPauses() throws Exception {
		LeaseLockRegistry hasty = new LeaseLockRegistry(this.store,
				LockSettings.builder().maxPollInterval(Duration.ofNanos(2000)).shutdownTimeout(Duration.ZERO).build());
		List<CompletableFuture<LockHandle>> waiters = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			holdElsewhere("hasty-" + i);
			for (int n = 0; n < 4; n++) {
				waiters.add(hasty.acquireAsync(
						LockRequest.builder("hasty-" + i).lease(LEASE).waitTime(LockRequest.FOREVER).build()));
			}
		}
		Awaitility.await().until(() -> this.store.acquires.get() > 20_000);
		for (int i = 0; i < 50; i++) {
			this.store.memory.release("hasty-" + i, "elsewhere");
		}
		CompletableFuture
			.allOf(waiters.stream()
				.map((waiter) -> waiter.thenAccept(LockHandle::release))
				.toArray(CompletableFuture[]::new))
			.get();
		hasty.close();
	}

	/**
	 * The lock is passed on between the attempt of the request, which is not the first,
	 * and its pause. The signal arrives in between, since one worker is left for it.
	 */
	@Test
	void signalBetweenAttemptAndPauseIsNotMissed() throws Exception {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry stopped = new LeaseLockRegistry(this.store, LockSettings.defaults(), clock);
		LockRequest request = LockRequest.builder("key").waitTime(LockRequest.FOREVER).build();
		LockHandle held = stopped.acquireAsync(request).get();
		CountDownLatch done = new CountDownLatch(1);
		CountDownLatch busy = new CountDownLatch(EngineThreads.WORKERS - 2);
		for (int i = 0; i < EngineThreads.WORKERS - 2; i++) {
			stopped.threads().executeWork(() -> {
				busy.countDown();
				AbstractLeaseLockRegistryTests.awaitQuietly(done);
			});
		}
		busy.await();
		AtomicBoolean signalled = new AtomicBoolean();
		clock.onReading = () -> {
			if (Thread.currentThread().getName().startsWith("dlock-worker") && signalled.compareAndSet(false, true)) {
				held.release();
				CountDownLatch arrived = new CountDownLatch(1);
				stopped.threads().executeWork(arrived::countDown);
				AbstractLeaseLockRegistryTests.awaitQuietly(arrived);
			}
		};
		CompletableFuture<LockHandle> waiter = stopped.acquireAsync(request);
		assertThat(waiter).succeedsWithin(Duration.ofSeconds(10));
		assertThat(signalled).isTrue();
		waiter.get().release();
		done.countDown();
		stopped.close();
	}

	@Test
	void cancelledWaiterLeavesTheQueue() {
		LockHandle held = this.registry.acquire("key");
		CompletableFuture<LockHandle> cancelled = acquire("key", LockRequest.FOREVER);
		CompletableFuture<LockHandle> next = acquire("key", LockRequest.FOREVER);
		assertThat(cancelled.cancel(false)).isTrue();
		held.release();
		next.join().release();
	}

	@Test
	void cancelledPollingEnds() {
		holdElsewhere("key");
		CompletableFuture<LockHandle> waiter = acquire("key", LockRequest.FOREVER);
		Awaitility.await().until(() -> this.store.acquires.get() > 3);
		waiter.cancel(false);
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

	@Test
	void lockGrantedAfterCancellationIsReleased() throws Exception {
		CountDownLatch hold = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(hold);
		CompletableFuture<LockHandle> waiter = acquire("key", Duration.ofSeconds(5));
		arrived.await();
		waiter.cancel(false);
		hold.countDown();
		Awaitility.await().until(() -> this.store.releases.get() == 1);
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty() && this.registry.queues().size() == 0);
	}

	@Test
	void outageFailsTheFuture() {
		this.store.down = true;
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> acquire("key", Duration.ZERO).get())
			.withCauseInstanceOf(LockStoreException.class);
	}

	@Test
	void unansweredAcquireIsRevoked() {
		this.store.lostAcquireReplies.set(1);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> acquire("key", Duration.ZERO).get())
			.withCauseInstanceOf(LockStoreException.class);
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	@Test
	void terminatedRegistryFailsTheFuture() {
		this.registry.close();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> acquire("key", Duration.ZERO).get())
			.withCauseInstanceOf(LockRegistryClosedException.class);
	}

	@Test
	void closingFailsPendingRequests() throws Exception {
		LeaseLockRegistry closing = new LeaseLockRegistry(this.store,
				LockSettings.builder().commandTimeout(Duration.ofMillis(50)).shutdownTimeout(Duration.ZERO).build());
		LockRequest request = LockRequest.builder("key").waitTime(LockRequest.FOREVER).build();
		CountDownLatch hold = new CountDownLatch(1);
		holdElsewhere("key");
		CountDownLatch arrived = this.store.holdAcquires(hold);
		CompletableFuture<LockHandle> trying = closing.acquireAsync(request);
		CompletableFuture<LockHandle> queued = closing.acquireAsync(request);
		arrived.await();
		closing.close();
		hold.countDown();
		for (CompletableFuture<LockHandle> waiter : List.of(trying, queued)) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
				.withCauseInstanceOf(LockRegistryClosedException.class);
		}
		Awaitility.await().until(() -> closing.queues().size() == 0 && closing.renewer().size() == 0);
	}

	@Test
	void blockingStageDoesNotStopTheTimer() throws Exception {
		LockHandle held = this.registry.acquire("key");
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch unblock = new CountDownLatch(1);
		acquire("key", Duration.ofSeconds(1)).handle((handle, ex) -> {
			blocked.countDown();
			try {
				return unblock.await(50, TimeUnit.SECONDS);
			}
			catch (InterruptedException interrupt) {
				return false;
			}
		});
		blocked.await();
		LockHandle lost = this.registry
			.acquire(LockRequest.builder("other").lease(Duration.ofMillis(250)).renew(false).build());
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		lost.onLost(told::complete);
		assertThat(told.get()).isSameAs(lost);
		unblock.countDown();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		held.release();
	}

	@Test
	void closedRegistryFailsTheFuture() {
		this.registry.close();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> acquire("key", Duration.ZERO).get())
			.withCauseInstanceOf(LockRegistryClosedException.class);
	}

	@Test
	void requestCancelledDuringStoreCallLeavesTheQueue() throws Exception {
		holdElsewhere("key");
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch asked = this.store.holdAcquires(answer);
		CompletableFuture<LockHandle> request = acquire("key", LockRequest.FOREVER);
		asked.await();
		request.cancel(false);
		answer.countDown();
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

}
