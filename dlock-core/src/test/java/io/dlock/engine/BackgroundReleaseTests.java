package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that come while another thread releases the lock in the store. The lock has no
 * holder, and the caller of a try may have released it itself.
 */
class BackgroundReleaseTests extends AbstractHandOffTests {

	private final CountDownLatch storeAnswers = new CountDownLatch(1);

	@AfterEach
	void answer() {
		this.storeAnswers.countDown();
		Awaitility.await().until(() -> this.registry.queues().isEmpty() && this.registry.queues().releases().isEmpty());
	}

	private void releaseInBackground() {
		LockHandle held = this.registry.acquireAsync(request()).join();
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.storeAnswers);
		held.releaseAsync();
		Awaitility.await().until(() -> this.store.releases.get() == 1);
	}

	private CompletableFuture<LockHandle> inOtherThread(Duration waitTime) {
		LockRequest request = LockRequest.builder("key").waitTime(waitTime).build();
		return AbstractLeaseLockRegistryTests.inOtherThread(() -> this.registry.acquire(request));
	}

	@Test
	void tryDuringTheReleaseGetsTheLock() throws Exception {
		releaseInBackground();
		CompletableFuture<LockHandle> tried = inOtherThread(Duration.ZERO);
		Awaitility.await().until(() -> tried.isDone() || this.registry.counts().waiting() == 1);
		this.storeAnswers.countDown();
		tried.get().release();
	}

	/**
	 * Other processes can acquire it then.
	 */
	@Test
	void lockThatStillWaitsForItsReleaseAtTheEndOfItsLeaseIsFree() {
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.storeAnswers);
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			this.registry.acquireAsync(LockRequest.of("other " + i)).join().releaseAsync();
		}
		Awaitility.await().until(() -> this.store.releases.get() == EngineThreads.WORKERS);
		this.registry.acquireAsync(request()).join().releaseAsync();
		CompletableFuture<LockHandle> next = waiter();
		this.clock.pass(LEASE);
		lookAfterLeases(this.registry);
		assertThat(next).succeedsWithin(Patience.EVENTUALLY);
		this.storeAnswers.countDown();
		next.join().release();
	}

	/**
	 * An operator sees a call that outlasts its wait time as one that hangs.
	 */
	@Test
	void waitThatEndsDuringTheReleaseIsNotProlonged() {
		releaseInBackground();
		CompletableFuture<LockHandle> late = inOtherThread(Duration.ofMillis(20));
		Awaitility.await().until(() -> TestContexts.waiters(this.registry, "key") == 1);
		this.clock.pass(Duration.ofMillis(20));
		assertThat(late).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
	}

	@Test
	void futureOfATryEndsWithoutTheRelease() {
		releaseInBackground();
		assertThat(this.registry.acquireAsync(AbstractLeaseLockRegistryTests.noWait("key")))
			.failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockStoreException.class);
	}

	private CompletableFuture<Void> releaseInBackground(Kind kind) {
		LockHandle held = kind.acquire(this.registry, LockRequest.FOREVER);
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.storeAnswers);
		return held.releaseAsync();
	}

	/**
	 * A holder of these kinds has no place in the queue of this process.
	 */
	@ParameterizedTest
	@EnumSource
	void tryDuringTheReleaseOfAnotherKindGetsTheLock(Kind kind) {
		CompletableFuture<Void> released = releaseInBackground(kind);
		CompletableFuture<LockHandle> tried = AbstractLeaseLockRegistryTests
			.inOtherThread(() -> kind.acquire(this.registry, Duration.ZERO));
		Awaitility.await().until(() -> tried.isDone() || this.registry.counts().waiting() == 1);
		int before = this.store.acquires.get();
		this.storeAnswers.countDown();
		assertThat(tried).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		assertThat(this.store.acquires).as("calls to the store").hasValue(before + 1);
		released.join();
	}

	@ParameterizedTest
	@EnumSource
	void tryDuringAReleaseThatHangsAsksTheStoreAfterASecond(Kind kind) {
		CompletableFuture<Void> released = releaseInBackground(kind);
		CompletableFuture<LockHandle> tried = AbstractLeaseLockRegistryTests
			.inOtherThread(() -> kind.acquire(this.registry, Duration.ZERO));
		Awaitility.await().until(() -> this.registry.counts().waiting() == 1);
		int before = this.store.acquires.get();
		this.clock.pass(Duration.ofSeconds(1));
		Awaitility.await().until(() -> this.store.acquires.get() > before);
		assertThat(tried).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		this.storeAnswers.countDown();
		released.join();
	}

	@Test
	void requestWithTimeToWaitTakesAFreePermitDuringARelease() throws Exception {
		LockHandle held = this.registry.acquirePermit(request(), 2);
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.storeAnswers);
		held.releaseAsync();
		CompletableFuture<LockHandle> other = this.registry.acquirePermitAsync(request(), 2);
		assertThat(other).succeedsWithin(Patience.EVENTUALLY);
		this.storeAnswers.countDown();
		other.get().release();
	}

	@Test
	void setDuringTheReleaseOfAFairLockGetsItsLocks() {
		this.store.batches = true;
		LockHandle held = Kind.FAIR.acquire(this.registry, LockRequest.FOREVER);
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.storeAnswers);
		held.releaseAsync();
		LockRequest fair = LockRequest.builder("set").waitTime(Duration.ZERO).fair(true).build();
		CompletableFuture<LockSet> tried = AbstractLeaseLockRegistryTests
			.inOtherThread(() -> this.registry.acquireAll(fair, List.of("a", "key")));
		Awaitility.await().until(() -> tried.isDone() || this.registry.counts().waiting() == 1);
		this.storeAnswers.countDown();
		assertThat(tried).succeedsWithin(Patience.EVENTUALLY).satisfies(LockSet::release);
	}

	@ParameterizedTest
	@EnumSource
	void tryAfterTheReleaseOfAnotherKindDoesNotWaitForIt(Kind kind) {
		kind.acquire(this.registry, LockRequest.FOREVER).releaseAsync().join();
		LockHandle held = kind.acquire(this.registry, LockRequest.FOREVER);
		CompletableFuture<LockHandle> tried = AbstractLeaseLockRegistryTests
			.inOtherThread(() -> kind.acquire(this.registry, Duration.ZERO));
		assertThat(tried).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	@Test
	void tryBehindTheNextHolderIsBusy() throws Exception {
		releaseInBackground();
		CompletableFuture<LockHandle> next = waiter();
		this.storeAnswers.countDown();
		LockHandle held = next.get();
		assertThat(this.registry.acquireAsync(AbstractLeaseLockRegistryTests.noWait("key")))
			.failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	enum Kind {

		FAIR, PERMIT, SHARED;

		/**
		 * A try for the shared kind asks for the exclusive lock.
		 */
		LockHandle acquire(LeaseLockRegistry registry, Duration waitTime) {
			boolean shared = this == SHARED && !waitTime.isZero();
			LockRequest request = LockRequest.builder("key")
				.waitTime(waitTime)
				.fair(this == FAIR)
				.mode(shared ? LockMode.SHARED : LockMode.EXCLUSIVE)
				.build();
			return (this == PERMIT) ? registry.acquirePermit(request, 1) : registry.acquire(request);
		}

	}

}
