package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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

	private final LockSettings settings = LockSettings.builder()
		.commandTimeout(Duration.ofMillis(50))
		.releaseMode(ReleaseMode.ASYNC)
		.shutdownTimeout(Duration.ZERO)
		.build();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store, this.settings);

	@AfterEach
	void nothingIsLeft() {
		this.registry.close();
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
		assertThat(this.registry.renewer().size()).as("kept leases").isZero();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	private static LockRequest noWait() {
		return LockRequest.builder("key").waitTime(Duration.ZERO).build();
	}

	/**
	 * A release on a background thread would keep the place of the caller in the queue,
	 * and its next request would wait for it.
	 */
	@Test
	void storeThatCannotSendReleasesOnTheCallingThread() {
		List<Thread> releasing = Collections.synchronizedList(new ArrayList<>());
		this.store.beforeRelease = () -> releasing.add(Thread.currentThread());
		for (int i = 0; i < 1000; i++) {
			this.registry.acquire(noWait()).release();
		}
		assertThat(releasing).hasSize(1000).containsOnly(Thread.currentThread());
	}

	@Test
	void lockIsFreeForTheReleasingThreadAfterASentRelease() {
		this.store.sendsReleases = true;
		for (int i = 0; i < 1000; i++) {
			this.registry.acquire(noWait()).release();
		}
		assertThat(this.store.releasesSent).hasValue(1000);
	}

	@Test
	void sentReleaseBlocksNoThread() {
		this.store.sendsReleases = true;
		for (int i = 0; i < 10; i++) {
			this.registry.acquire(noWait()).release();
		}
		assertThat(this.store.releasesSent).hasValue(10);
		assertThat(this.store.releases).hasValue(0);
		assertThat(this.registry.queues().size()).isZero();
	}

	@Test
	void setIsReleasedWithoutAWait() {
		this.store.sendsReleases = true;
		this.registry.acquireAll(noWait(), List.of("a", "b")).release();
		assertThat(this.store.releasesSent).hasValue(2);
		assertThat(this.store.releases).hasValue(0);
	}

	@Test
	void sentReleaseThatFailsIsRepeated() {
		this.store.sendsReleases = true;
		this.store.lostReleases.set(1);
		this.registry.acquire(noWait()).release();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
		assertThat(this.store.releases.get()).isPositive();
	}

	@Test
	void unsentReleaseIsRepeated() {
		this.store.sendsReleases = true;
		LockHandle handle = this.registry.acquire(noWait());
		this.store.down = true;
		handle.release();
		this.store.down = false;
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
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

	private void awaitFree(int keys) {
		Awaitility.await()
			.until(() -> IntStream.range(0, keys).allMatch((i) -> this.store.memory.find("key " + i).isEmpty()));
	}

	@Test
	void closingRegistryReleasesPendingLocks() {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			handles.add(this.registry.acquire("key " + i));
		}
		handles.forEach(LockHandle::release);
		this.registry.close();
		awaitFree(100);
	}

}
