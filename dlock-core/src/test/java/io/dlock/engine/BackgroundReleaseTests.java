package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
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

}
