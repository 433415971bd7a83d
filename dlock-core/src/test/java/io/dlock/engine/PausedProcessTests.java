package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockBusyException;
import io.dlock.LockCongestedException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoredLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A process that is paused for longer than its wait times. The store works meanwhile, so
 * that a method with {@code onStoreFailure = PROCEED} must not run without its lock.
 */
@Timeout(120)
class PausedProcessTests extends AbstractAsyncRequestTests {

	private static final Duration PAUSE = Duration.ofMinutes(1);

	private final TurnedClock clock = new TurnedClock();

	private final LeaseLockRegistry paused = another(new LeaseLockRegistry(this.store,
			LockSettings.builder()
				.lease(Duration.ofHours(1))
				.commandTimeout(Duration.ofSeconds(5))
				.shutdownTimeout(Duration.ZERO)
				.build(),
			this.clock));

	@Test
	void requestBehindALocalHolderIsBusyAfterThePause() {
		LockHandle held = this.paused.acquireAsync(LockRequest.of("key")).join();
		CompletableFuture<LockHandle> waiting = AbstractLeaseLockRegistryTests
			.inOtherThread(() -> this.paused.acquire(waiting("key")));
		Awaitility.await().until(() -> TestContexts.waiters(this.paused, "key") == 1);
		this.clock.pass(PAUSE);
		assertThat(waiting).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	/**
	 * No thread has noticed yet that the holder has lost the lock. The store has
	 * forgotten it.
	 */
	@Test
	void tryBehindALocalHolderThatHasLostTheLockAsksTheStore() {
		LockHandle lost = this.paused.acquireAsync(LockRequest.of("key")).join();
		StoredLock stored = this.store.memory.find("key").orElseThrow();
		assertThat(this.store.memory.inspection().forceRelease(stored.storageKey(), stored.token())).isTrue();
		this.clock.pass(Duration.ofHours(2));
		this.paused.acquire(LockRequest.builder("key").waitTime(Duration.ZERO).build()).release();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
	}

	/**
	 * The thread before it is in its call to the store.
	 */
	@Test
	void requestBehindACallUnderWayGetsItsAnswerAfterThePause() throws Exception {
		CountDownLatch asking = this.store.holdAcquires(this.done);
		CompletableFuture<LockHandle> first = this.paused.acquireAsync(LockRequest.of("key"));
		asking.await();
		AtomicReference<Thread> waiter = new AtomicReference<>();
		AtomicInteger looks = new AtomicInteger();
		CompletableFuture<LockHandle> second = AbstractLeaseLockRegistryTests.inOtherThread(() -> {
			waiter.set(Thread.currentThread());
			return this.paused.acquire(waiting("key"));
		});
		Awaitility.await().until(() -> TestContexts.waiters(this.paused, "key") == 1);
		this.clock.pass(PAUSE);
		this.clock.onReading = () -> looks.addAndGet((Thread.currentThread() == waiter.get()) ? 1 : 0);
		Awaitility.await().until(() -> looks.get() > 0 && waiter.get().getState() != Thread.State.RUNNABLE);
		this.done.countDown();
		LockHandle held = first.join();
		assertThat(second).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	/**
	 * The driver finds that the command has timed out before the answer is read.
	 */
	@Test
	void callThatTimesOutInThePauseIsNoOutage() {
		this.store.beforeAcquire = () -> {
			this.store.beforeAcquire = () -> {
			};
			this.clock.pass(PAUSE);
			throw new StoreException(Effect.UNKNOWN, false, "Command timed out", null);
		};
		assertThatExceptionOfType(LockCongestedException.class)
			.isThrownBy(() -> this.paused.acquire(LockRequest.builder("key").waitTime(Duration.ZERO).build()))
			.withMessageContaining("suspended")
			.withMessageContaining("it is revoked");
	}

	@Test
	void asynchronousRequestThatWasNotSentIsCongestedAfterThePause() throws Exception {
		this.paused.acquire("answered").release();
		CountDownLatch asking = new CountDownLatch(EngineThreads.WORKERS);
		this.store.beforeAcquire = () -> {
			asking.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(this.done);
		};
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			this.paused.acquireAsync(LockRequest.builder("busy " + i).waitTime(Duration.ofHours(1)).build());
		}
		asking.await();
		CompletableFuture<LockHandle> waiting = this.paused.acquireAsync(waiting("key"));
		this.clock.pass(PAUSE);
		assertThat(waiting).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockCongestedException.class);
	}

	private static LockRequest waiting(String key) {
		return LockRequest.builder(key).waitTime(Duration.ofSeconds(1)).build();
	}

}
