package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mockito.MockedStatic;
import org.springframework.beans.DirectFieldAccessor;

import io.dlock.LockContext;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.notNull;
import static org.mockito.Mockito.mockStatic;

/**
 * No thread can be started, as in a container at its limit. No lock and no request may be
 * left behind.
 */
@Timeout(60)
class ThreadShortageTests {

	private volatile boolean noThreads;

	private final AtomicInteger refused = new AtomicInteger();

	private final TroubledStore store = new TroubledStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().commandTimeout(Duration.ofMillis(50)).shutdownTimeout(Duration.ZERO).build(),
			MachineClock.SYSTEM, new EngineThreads(this::newThread));

	/**
	 * Newer pools do not call {@link Thread#start()}, which is the call that fails in
	 * production.
	 */
	private Thread newThread(Runnable task) {
		if (this.noThreads) {
			this.refused.incrementAndGet();
			throw new OutOfMemoryError("unable to create native thread");
		}
		return new Thread(task);
	}

	/**
	 * JUnit ends the whole run at the error itself.
	 */
	private static <T> T withoutError(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (OutOfMemoryError ex) {
			throw new AssertionError("The caller must not get the error", ex);
		}
	}

	/**
	 * The store has granted the lock, which would be renewed without an end.
	 */
	@Test
	void lockThatCannotBeDeliveredIsReleased() {
		TroubledStore plenty = new TroubledStore();
		EngineThreads threads = new EngineThreads((task) -> new Thread(task) {

			@Override
			public void start() {
				if (getName().startsWith("dlock-callback")) {
					throw new NoClassDefFoundError("an error of this process");
				}
				super.start();
			}

		});
		try (LeaseLockRegistry failing = new LeaseLockRegistry(plenty,
				LockSettings.builder().shutdownTimeout(Duration.ZERO).build(), MachineClock.SYSTEM, threads)) {
			assertThat(failing.acquireAsync(LockRequest.of("key"))).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.withCauseInstanceOf(NoClassDefFoundError.class);
			assertThat(plenty.memory.find("key")).isEmpty();
			assertThat(failing.counts().held()).isZero();
		}
	}

	/**
	 * As for want of memory, after the lock was granted.
	 */
	@Test
	void lockThatCannotBeBoundToItsThreadIsReleased() {
		try (MockedStatic<LockContext> context = mockStatic(LockContext.class, (call) -> {
			if (call.getMethod().getName().equals("bind")) {
				throw new NoClassDefFoundError("an error of this process");
			}
			return call.callRealMethod();
		})) {
			assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(() -> this.registry.acquire("key"));
			context.verify(() -> LockContext.bind(notNull()));
		}
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
		assertThat(this.registry.counts().held()).isZero();
	}

	@AfterEach
	void nothingIsLeft() {
		this.noThreads = false;
		this.registry.close();
		assertThat(this.registry.queues().size()).as("local queues").isZero();
		assertThat(this.registry.renewer().size()).as("kept leases").isZero();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void callerReleasesWhenNoThreadCanBeStarted() {
		LockHandle handle = this.registry.acquire("key");
		this.noThreads = true;
		assertThat(withoutError(handle::releaseAsync)).isCompleted();
		assertThat(this.store.memory.find("key")).isEmpty();
		assertThat(this.registry.renewer().size()).isZero();
	}

	@Test
	void requestFailsAndLeavesTheQueueWhenNoThreadCanBeStarted() {
		this.noThreads = true;
		CompletableFuture<LockHandle> request = withoutError(() -> this.registry.acquireAsync(LockRequest.of("key")));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(request::get)
			.withCauseInstanceOf(OutOfMemoryError.class);
		assertThat(this.registry.queues().size()).isZero();
		this.registry.acquire("key").release();
	}

	@Test
	void headOfQueueUsesExistingThreadWhenNoneCanBeStarted() {
		LockHandle held = this.registry.acquire("key");
		CompletableFuture<LockHandle> request = this.registry.acquireAsync(LockRequest.of("key"));
		this.noThreads = true;
		held.release();
		assertThat(request).succeedsWithin(Duration.ofSeconds(10)).satisfies(LockHandle::release);
	}

	/**
	 * The thread that it had before has ended.
	 */
	@Test
	void headOfQueueWaitsForAThreadWhenThereIsNone() {
		LockHandle held = this.registry.acquire("key");
		CompletableFuture<LockHandle> request = this.registry.acquireAsync(LockRequest.of("key"));
		Awaitility.await().until(() -> TestContexts.waiters(this.registry, "key") == 1);
		ThreadPoolExecutor workers = (ThreadPoolExecutor) Objects
			.requireNonNull(new DirectFieldAccessor(this.registry.threads()).getPropertyValue("workers"));
		workers.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
		Awaitility.await().until(() -> workers.getPoolSize() == 0);
		this.noThreads = true;
		held.release();
		Awaitility.await().until(() -> this.refused.get() > 2 || request.isDone());
		this.noThreads = false;
		assertThat(request).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
	}

	@Test
	void requestsAreServedWhenThreadsCanBeStartedAgain() {
		LockHandle held = this.registry.acquire("key");
		List<CompletableFuture<Void>> requests = new ArrayList<>();
		LockRequest request = LockRequest.builder("key").waitTime(LockRequest.FOREVER).build();
		for (int i = 0; i < 5000; i++) {
			requests.add(this.registry.acquireAsync(request).thenAccept(LockHandle::release));
		}
		Awaitility.await().until(() -> TestContexts.waiters(this.registry, "key") == 5000);
		CountDownLatch busy = new CountDownLatch(1);
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			this.registry.threads().executeWork(() -> AbstractLeaseLockRegistryTests.awaitQuietly(busy));
		}
		this.noThreads = true;
		held.release();
		this.noThreads = false;
		busy.countDown();
		assertThat(CompletableFuture.allOf(requests.toArray(CompletableFuture[]::new)))
			.succeedsWithin(Duration.ofSeconds(50));
	}

	@Test
	void userStageDoesNotRunOnTheTimer() {
		CountDownLatch answer = new CountDownLatch(1);
		this.store.holdAcquires(answer);
		CompletableFuture<String> thread = new CompletableFuture<>();
		this.registry.acquireAsync(LockRequest.builder("key").waitTime(Duration.ofSeconds(4)).build())
			.whenComplete((handle, ex) -> thread.complete(Thread.currentThread().getName()));
		Awaitility.await().until(() -> this.store.acquires.get() == 1);
		this.noThreads = true;
		Awaitility.await().until(() -> this.refused.get() > 2);
		assertThat(thread).isNotDone();
		this.noThreads = false;
		assertThat(thread).succeedsWithin(Duration.ofSeconds(30)).asString().startsWith("dlock-callback");
		answer.countDown();
		Awaitility.await().until(() -> this.store.releases.get() == 1);
	}

	@Test
	void lossIsAnnouncedWithoutAThreadForOneListener() {
		List<String> told = Collections.synchronizedList(new ArrayList<>());
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				told.add(event.key());
			}
		});
		LockHandle first = this.registry.acquire("first");
		ForcedLoss.of(this.registry, first);
		Awaitility.await().until(() -> told.contains("first"));
		LockHandle second = this.registry.acquire("second");
		second.onLost((lost) -> told.add("listener"));
		this.noThreads = true;
		withoutError(() -> {
			ForcedLoss.of(this.registry, second);
			return null;
		});
		Awaitility.await().until(() -> told.contains("second"));
		assertThat(told).containsExactly("first", "second");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(second::release);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(first::release);
	}

	@Test
	void revocationWaitsForAThread() {
		this.store.lostAcquireReplies.set(1);
		this.noThreads = true;
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ZERO).build();
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(request));
		Awaitility.await().until(() -> this.refused.get() > 0);
		this.noThreads = false;
		Awaitility.await().until(() -> this.store.releases.get() > 0 && this.store.memory.find("key").isEmpty());
	}

	@Test
	void leaseThatIsLeftToNoOtherRequestWaitsForAThread() {
		LockHandle held = this.registry.acquire(LockRequest.builder("key").lease(Duration.ofHours(1)).build());
		QueuedRequest leaving = this.registry.queues()
			.join(TestContexts.of("key", new LeaseTerms(Duration.ofHours(2), true)), () -> {
			});
		held.release();
		assertThat(leaving.predecessor()).as("it asked for another lease").isNotNull();
		this.noThreads = true;
		withoutError(() -> {
			this.registry.queues().leave(leaving);
			return null;
		});
		assertThat(this.registry.queues().size()).isZero();
		this.noThreads = false;
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

}
