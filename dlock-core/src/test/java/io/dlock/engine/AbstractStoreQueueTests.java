package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.memory.Waiting;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two registries on one store wait for each other.
 */
@Timeout(60)
abstract class AbstractStoreQueueTests {

	static final Duration NEVER = Duration.ofHours(1);

	/** How much faster the store's clock has been than that of the processes. */
	final AtomicLong elapsed = new AtomicLong();

	final MemoryLockStore memory = new MemoryLockStore(() -> System.nanoTime() + this.elapsed.get());

	final TroubledStore hereStore = new TroubledStore(this.memory);

	final TroubledStore thereStore = new TroubledStore(this.memory);

	final LeaseLockRegistry here = registry(this.hereStore, Duration.ofMillis(100), Duration.ZERO);

	final List<LeaseLockRegistry> others = new ArrayList<>();

	static LeaseLockRegistry registry(LockStore store, Duration poll, Duration handOff) {
		return new LeaseLockRegistry(store,
				LockSettings.builder()
					.maxPollInterval(poll)
					.handOffMaxDuration(handOff)
					.shutdownTimeout(Duration.ZERO)
					.build());
	}

	final LeaseLockRegistry there(Duration poll) {
		LeaseLockRegistry there = registry(this.thereStore, poll, Duration.ofMillis(10));
		this.others.add(there);
		return there;
	}

	@AfterEach
	void nothingIsLeft() {
		this.here.close();
		this.others.forEach(LeaseLockRegistry::close);
		assertThat(this.memory.find("key")).isEmpty();
		assertThat(Waiting.mailboxes(this.memory)).isZero();
	}

	static LockRequest patient() {
		return LockRequest.builder("key").waitTime(LockRequest.FOREVER).build();
	}

	static LockRequest impatient() {
		return LockRequest.builder("key").waitTime(Duration.ZERO).build();
	}

	final LockHandle heldHere() throws Exception {
		return this.here.acquireAsync(patient()).get();
	}

	final CompletableFuture<LockHandle> queued(LeaseLockRegistry registry) {
		CompletableFuture<LockHandle> waiter = registry.acquireAsync(patient());
		awaitQueued(1);
		return waiter;
	}

	/**
	 * A lock that this process holds while the other one is queued for it.
	 */
	final Contended contended(Duration poll) throws Exception {
		LeaseLockRegistry there = there(poll);
		return new Contended(there, heldHere(), queued(there));
	}

	record Contended(LeaseLockRegistry there, LockHandle held, CompletableFuture<LockHandle> waiter) {

		void handOver() throws Exception {
			this.held.release();
			this.waiter.get().release();
		}

	}

	final void awaitQueued(int processes) {
		Awaitility.await().until(() -> Waiting.processes(this.memory, "key") == processes);
	}

}
