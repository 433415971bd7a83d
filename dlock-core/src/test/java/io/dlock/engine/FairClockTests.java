package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.store.memory.Waiting;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fair requests on a clock that a test turns.
 */
class FairClockTests extends AbstractHandOffTests {

	private final LockRequest fair = LockRequest.builder("key").waitTime(LockRequest.FOREVER).fair(true).build();

	private static void listen(LeaseLockRegistry process) {
		process.membership().listen();
		Awaitility.await().until(() -> process.membership().isListening());
	}

	private CompletableFuture<LockHandle> queued(LeaseLockRegistry process) {
		int before = Waiting.processes(this.store.memory, "key");
		CompletableFuture<LockHandle> request = process.acquireAsync(this.fair);
		Awaitility.await().until(() -> Waiting.processes(this.store.memory, "key") == before + 1);
		return request;
	}

	/** A dead request costs five seconds in Redisson (issue 1353). */
	@Test
	void deadRequestCostsTheNextOneItsReservationAndAPoll() {
		TroubledStore cut = new TroubledStore(this.store.memory);
		try (LeaseLockRegistry dying = new LeaseLockRegistry(cut, this.settings, this.clock)) {
			listen(this.registry);
			listen(dying);
			LockHandle held = this.registry.acquireAsync(this.fair).join();
			CompletableFuture<LockHandle> dead = queued(dying);
			cut.messagesAreLost = true;
			cut.down = true;
			CompletableFuture<LockHandle> next = queued(this.registry);
			held.release();
			this.clock.pass(Duration.ofMillis(49));
			int before = this.store.acquires.get();
			Awaitility.await().until(() -> this.store.acquires.get() > before + 1);
			assertThat(next).isNotDone();
			this.clock.pass(Duration.ofMillis(1));
			int asked = this.store.acquires.get();
			Awaitility.await().until(() -> next.isDone() || this.store.acquires.get() > asked + 2);
			assertThat(next).as("granted with the first poll").isDone();
			next.join().release();
			dead.cancel(false);
		}
	}

}
