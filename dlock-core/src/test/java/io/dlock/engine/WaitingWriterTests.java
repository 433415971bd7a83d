package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.engine.lease.Lease;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.Waiting;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A writer beside readers that come again and again, on a clock that a test turns.
 */
class WaitingWriterTests extends AbstractHandOffTests {

	private static final Duration STEP = Duration.ofMillis(10);

	private static final int STEPS_OF_A_READER = 100;

	private final LockRequest reading = LockRequest.builder("key")
		.mode(LockMode.SHARED)
		.reentrant(false)
		.waitTime(Duration.ZERO)
		.build();

	private final LeaseLockRegistry other = new LeaseLockRegistry(new TroubledStore(this.store.memory), this.settings,
			this.clock);

	private final Queue<Reader> readers = new ArrayDeque<>();

	private int step;

	@AfterEach
	void nothingIsLeftOfTheOther() {
		this.other.close();
	}

	/**
	 * A hundred readers come to each process in a second, and each holds the lock for a
	 * second if it gets it at once.
	 */
	private void pass(int steps) {
		for (int last = this.step + steps; this.step < last; this.step++) {
			this.clock.pass(STEP);
			while (!this.readers.isEmpty() && this.readers.element().until() <= this.step) {
				this.readers.remove().handle().release();
			}
			for (LeaseLockRegistry process : List.of(this.registry, this.other)) {
				process.tryAcquire(this.reading)
					.ifPresent((handle) -> this.readers.add(new Reader(handle, this.step + STEPS_OF_A_READER)));
			}
		}
	}

	/** Redisson admits new readers while a writer waits (issue 5379). */
	@Test
	void writerWaitsForTheLongestReaderAndForOneLeaseOfADeadOne() {
		pass(2 * STEPS_OF_A_READER);
		assertThat(this.readers).hasSize(2 * STEPS_OF_A_READER);
		this.store.memory.acquire(new AcquireCommand("key", LockStore.memberOwner(Lease.newOwner()), LEASE, "dies", "",
				null, false, null, AcquireCommand.UNLIMITED));
		CompletableFuture<LockHandle> writer = this.other.acquireAsync(request());
		Awaitility.await().until(() -> Waiting.processes(this.store.memory, "key") == 1);
		pass(STEPS_OF_A_READER);
		assertThat(this.readers).as("readers that hold the lock for longer, or came later").isEmpty();
		assertThat(writer).isNotDone();
		this.clock.pass(LEASE.minus(STEP.multipliedBy(STEPS_OF_A_READER)));
		writer.join().release();
	}

	/**
	 * A reader.
	 *
	 * @param handle its lock
	 * @param until the step at which it releases the lock
	 */
	private record Reader(LockHandle handle, int until) {

	}

}
