package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.ReleaseMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Releases that do not wait for the store.
 */
@Timeout(60)
class AsyncReleaseTests {

	private final TroubledStore store = new TroubledStore();

	private final LockSettings settings = LockSettings.defaults()
		.withCommandTimeout(Duration.ofMillis(50))
		.withReleaseMode(ReleaseMode.ASYNC)
		.withShutdownTimeout(Duration.ZERO);

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store, this.settings);

	private final CountDownLatch storeAnswers = new CountDownLatch(1);

	@AfterEach
	void nothingIsLeft() {
		this.storeAnswers.countDown();
		this.registry.close();
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
		assertThat(this.registry.keeper().size()).as("kept leases").isZero();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	private void storeDoesNotAnswerReleases() {
		this.store.beforeRelease = () -> AbstractLeaseLockRegistryTests.awaitQuietly(this.storeAnswers);
	}

	private static LockRequest noWait() {
		return LockRequest.builder("key").waitTime(Duration.ZERO).build();
	}

	@Test
	void releaseReturnsBeforeTheStoreHasAnswered() {
		storeDoesNotAnswerReleases();
		LockHandle handle = this.registry.acquire("key");
		handle.release();
		assertThat(handle.isValid()).isFalse();
		assertThat(this.registry.keeper().size()).as("it is not renewed any more").isZero();
		this.storeAnswers.countDown();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
		assertThat(this.registry.queues().size()).isZero();
	}

	@Test
	void storeThatCanSendsTheReleaseAndNoThreadWaitsForIt() {
		this.store.sendsReleases = true;
		for (int i = 0; i < 10; i++) {
			this.registry.acquire(noWait()).release();
		}
		assertThat(this.store.releasesSent).hasValue(10);
		assertThat(this.store.releases).hasValue(0);
		assertThat(this.registry.queues().size()).isZero();
	}

	@Test
	void releaseThatWasSentInVainIsRepeated() {
		this.store.sendsReleases = true;
		this.store.lostReleases.set(1);
		this.registry.acquire(noWait()).release();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
		assertThat(this.store.releases.get()).isPositive();
	}

	@Test
	void releaseThatCanNotBeSentIsRepeated() {
		this.store.sendsReleases = true;
		LockHandle handle = this.registry.acquire(noWait());
		this.store.down = true;
		handle.release();
		this.store.down = false;
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	@Test
	void nextOfThisProcessNeedNotWaitForTheRelease() throws Exception {
		// four threads release: keep them busy
		storeDoesNotAnswerReleases();
		for (int i = 0; i < 4; i++) {
			this.registry.acquire("other " + i).release();
		}
		Awaitility.await().until(() -> this.store.releases.get() == 4);
		LockHandle first = this.registry.acquire("key");
		first.release();
		assertThat(this.store.memory.find("key")).isPresent();
		LockHandle second = this.registry.acquire(noWait());
		assertThat(second.token()).isGreaterThan(first.token());
		this.storeAnswers.countDown();
		Awaitility.await().until(() -> this.store.memory.find("other 3").isEmpty());
		second.assertHeld();
		assertThat(this.store.memory.find("key")).as("the release of the first does not concern the second")
			.isPresent();
		second.release();
	}

	@Test
	void whoComesDuringTheReleaseWaitsForIt() throws Exception {
		storeDoesNotAnswerReleases();
		LockHandle first = this.registry.acquire("key");
		first.release();
		Awaitility.await().until(() -> this.store.releases.get() == 1);
		CompletableFuture<LockHandle> second = this.registry.acquireAsync(LockRequest.of("key"));
		Awaitility.await().until(() -> this.registry.queues().waiters("key") == 1);
		assertThat(this.store.acquires).hasValue(1);
		this.storeAnswers.countDown();
		second.get().release();
	}

	@Test
	void failedReleaseIsRepeated() {
		this.store.lostReleases.set(2);
		this.registry.acquire("key").release();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	@Test
	void lossIsStillThrown() {
		LockHandle handle = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(200)).renew(false).build());
		Awaitility.await().until(() -> !handle.isValid());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void outstandingReleasesAreBoundedAndNoneIsForgotten() throws Exception {
		storeDoesNotAnswerReleases();
		CompletableFuture<Void> releasing = CompletableFuture.runAsync(() -> {
			for (int i = 0; i < 400; i++) {
				this.registry.acquire("key " + i).release();
			}
		});
		Awaitility.await().until(() -> this.store.releases.get() == 5);
		assertThat(releasing).as("the fifth is the caller's").isNotDone();
		this.storeAnswers.countDown();
		releasing.get();
		awaitFree(400);
		assertThat(this.store.acquires).hasValue(400);
	}

	private void awaitFree(int keys) {
		Awaitility.await()
			.until(() -> IntStream.range(0, keys).allMatch((i) -> this.store.memory.find("key " + i).isEmpty()));
	}

	@Test
	void stoppingRegistryDoesNotWaitForBusyThreads() throws Exception {
		storeDoesNotAnswerReleases();
		for (int i = 0; i < 4; i++) {
			this.registry.acquire("other " + i).release();
		}
		Awaitility.await().until(() -> this.store.releases.get() == 4);
		this.store.beforeRelease = () -> {
		};
		this.registry.acquire("key").release();
		assertThat(this.store.memory.find("key")).isPresent();
		this.registry.stop();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void closingRegistryReleasesWhatIsOutstanding() {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			handles.add(this.registry.acquire("key " + i));
		}
		handles.forEach(LockHandle::release);
		this.registry.close();
		awaitFree(100);
	}

}
