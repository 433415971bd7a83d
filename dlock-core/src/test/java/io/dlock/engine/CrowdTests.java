package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many processes wait for one key, and no message arrives.
 */
@Timeout(120)
class CrowdTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final LockRequest PATIENT = LockRequest.builder("key").waitTime(LockRequest.FOREVER).build();

	private final MemoryLockStore memory = new MemoryLockStore();

	private final TroubledStore store = new TroubledStore(this.memory);

	private final List<LeaseLockRegistry> registries = new ArrayList<>();

	private final List<CompletableFuture<LockHandle>> waiting = new ArrayList<>();

	CrowdTests() {
		this.store.messagesAreLost = true;
		this.memory.acquire(new AcquireCommand("key", "dead", LEASE, "dead", ""));
	}

	@AfterEach
	void close() {
		this.waiting.forEach((waiter) -> waiter.cancel(false));
		this.registries.forEach(LeaseLockRegistry::close);
	}

	private CompletableFuture<LockHandle> join() {
		LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
				LockSettings.builder().shutdownTimeout(Duration.ZERO).build());
		this.registries.add(registry);
		int before = Waiting.processes(this.memory, "key");
		CompletableFuture<LockHandle> waiter = registry.acquireAsync(PATIENT);
		this.waiting.add(waiter);
		Awaitility.await().until(() -> Waiting.processes(this.memory, "key") > before);
		return waiter;
	}

	@Test
	void queuedProcessesAskAllTogetherNotMuchMoreOftenThanAFew() {
		for (int i = 0; i < 100; i++) {
			join();
		}
		int before = this.store.acquires.get();
		long start = System.nanoTime();
		Awaitility.await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
		double seconds = (System.nanoTime() - start) / 1e9;
		int calls = this.store.acquires.get() - before;
		assertThat(calls).as("calls in " + seconds + " s").isBetween(10, (int) (200 * seconds));
	}

	@Test
	void nextIsFoundAfterTheProcessesBeforeItHaveDied() {
		for (int i = 0; i < 5; i++) {
			this.memory.acquire(new AcquireCommand("key", "dead " + i, LEASE, "dead", "",
					MailboxAddress.create(Duration.ofMillis(50)), true, null));
		}
		CompletableFuture<LockHandle> alive = join();
		assertThat(Waiting.processes(this.memory, "key")).isEqualTo(6);
		this.memory.release("key", "dead");
		assertThat(alive).succeedsWithin(Patience.EVENTUALLY);
	}

}
