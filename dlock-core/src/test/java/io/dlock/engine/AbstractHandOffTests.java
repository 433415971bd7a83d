package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A registry on a clock that a test turns.
 */
@Timeout(60)
abstract class AbstractHandOffTests {

	static final Duration LEASE = Duration.ofSeconds(10);

	final TurnedClock clock = new TurnedClock();

	final TroubledStore store = new TroubledStore(new MemoryLockStore(this.clock::nanoTime));

	final LockSettings settings = LockSettings.builder()
		.lease(LEASE)
		.commandTimeout(Duration.ofMillis(50))
		.shutdownTimeout(Duration.ZERO)
		.build();

	final LeaseLockRegistry registry = new LeaseLockRegistry(this.store, this.settings, this.clock);

	@AfterEach
	void nothingIsLeft() {
		Thread.interrupted();
		assertThat(TestContexts.dropHandles()).as("handles bound to the thread").isEmpty();
		this.registry.close();
		assertThat(this.registry.queues().size()).as("local queues").isZero();
		assertThat(this.registry.renewer().size()).as("kept leases").isZero();
		assertThat(this.store.memory.find("key")).as("the lock in the store").isEmpty();
	}

	/**
	 * Have a registry check its leases now, since its alarm does not notice a turned
	 * clock.
	 */
	static void lookAfterLeases(LeaseLockRegistry registry) {
		registry.threads().schedule(() -> LeaseInternals.checkLeases(registry.renewer()), 0);
	}

	/**
	 * Wait until the thread of the renewals has noted the answers so far.
	 */
	static void awaitRenewals(LeaseLockRegistry registry) {
		CountDownLatch done = new CountDownLatch(1);
		registry.threads().executeRenewal(done::countDown);
		AbstractLeaseLockRegistryTests.awaitQuietly(done);
	}

	/**
	 * Wait until the timer has checked the leases and started the renewals that are due.
	 */
	static void awaitCheckOfLeases(LeaseLockRegistry registry) {
		CountDownLatch checked = new CountDownLatch(1);
		registry.threads().schedule(() -> {
			LeaseInternals.checkLeases(registry.renewer());
			checked.countDown();
		}, 0);
		AbstractLeaseLockRegistryTests.awaitQuietly(checked);
		awaitRenewals(registry);
	}

	LockRequest request() {
		return LockRequest.builder("key").waitTime(LockRequest.FOREVER).build();
	}

	/**
	 * Acquire on another thread, which then drops its handle.
	 */
	CompletableFuture<LockHandle> waiter(LockRequest request) {
		int before = TestContexts.waiters(this.registry, "key");
		CompletableFuture<LockHandle> waiter = this.registry.acquireAsync(request);
		Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> TestContexts.waiters(this.registry, "key") == before + 1);
		return waiter;
	}

	CompletableFuture<LockHandle> waiter() {
		return waiter(request());
	}

}
