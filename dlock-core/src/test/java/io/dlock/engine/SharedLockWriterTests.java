package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Readers beside writers, in one queue.
 */
class SharedLockWriterTests extends AbstractMemberTests {

	@Test
	void readersOfTwoProcessesKeepAnExclusiveRequestOut() {
		LockHandle one = hold(this.registry, shared("key").build());
		LockHandle two = hold(this.other, shared("key").build());
		assertThat(this.registry.tryAcquire(noWait("key"))).isEmpty();
		CompletableFuture<LockHandle> writer = waiting(this.registry, exclusive("key").build());
		one.release();
		assertThat(writer).isNotDone();
		assertThat(two.isValid()).isTrue();
		two.release();
		LockHandle exclusive = writer.join();
		assertThat(exclusive.token()).isGreaterThan(two.token());
		assertThat(this.other.tryAcquire(tryShared("key"))).isEmpty();
		exclusive.release();
	}

	/** Redisson admits new readers while a writer waits (issue 5379). */
	@Test
	void newReaderQueuesBehindAWriterOfItsProcess() {
		LeaseLockRegistry asking = asking();
		LockHandle reader = asking.acquireAsync(shared("key").build()).join();
		CompletableFuture<LockHandle> writer = waiting(asking, exclusive("key").build());
		assertThat(asking.tryAcquire(tryShared("key"))).isEmpty();
		CompletableFuture<LockHandle> second = waiting(asking, shared("key").build());
		reader.release();
		LockHandle exclusive = writer.join();
		assertThat(second).isNotDone();
		exclusive.release();
		second.join().release();
		asking.close();
	}

	/**
	 * Another process, for which a lock is reserved so long that it misses no turn.
	 */
	private LeaseLockRegistry reserving() {
		return another(new LeaseLockRegistry(new PatientStore(this.store.memory, "9000"), this.settings));
	}

	@Test
	void newReaderQueuesBehindAWriterOfAnotherProcess() {
		LeaseLockRegistry reserving = reserving();
		LockHandle reader = hold(this.registry, shared("key").build());
		CompletableFuture<LockHandle> writer = waiting(reserving, exclusive("key").build());
		awaitQueuedInStore(reserving);
		// an answer of the store is used as long as a lock may be passed on
		Awaitility.await()
			.until(() -> this.registry.tryAcquire(tryShared("key")).map(SharedLockWriterTests::released).isEmpty());
		CompletableFuture<LockHandle> second = waiting(this.registry, shared("key").build());
		reader.release();
		LockHandle exclusive = writer.join();
		assertThat(second).isNotDone();
		exclusive.release();
		second.join().release();
		reserving.close();
	}

	private static LockHandle released(LockHandle handle) {
		handle.release();
		return handle;
	}

	@Test
	void readersThatWaitedGoAsOneBatch() {
		LeaseLockRegistry asking = asking();
		LockHandle writer = hold(asking, exclusive("key").build());
		List<CompletableFuture<LockHandle>> readers = new ArrayList<>();
		IntStream.range(0, 20).forEach((i) -> readers.add(waiting(asking, shared("key").build())));
		CompletableFuture<LockHandle> next = waiting(asking, exclusive("key").build());
		CompletableFuture<LockHandle> late = waiting(asking, shared("key").build());
		int before = this.store.acquires.get();
		long begin = System.nanoTime();
		writer.release();
		List<LockHandle> together = readers.stream().map(CompletableFuture::join).toList();
		assertThat(together).allMatch(LockHandle::isValid)
			.extracting(LockHandle::token)
			.containsOnly(together.get(0).token());
		assertThat(this.store.memory.list(10).locks()).hasSize(1);
		long polls = Duration.ofNanos(System.nanoTime() - begin).toMillis() / 20;
		assertThat(this.store.acquires.get() - before).as("calls of the first reader and the next writer")
			.isLessThan(20 + (int) polls);
		assertThat(late).isNotDone();
		together.forEach(LockHandle::release);
		next.join().release();
		late.join().release();
		asking.close();
	}

	@Test
	void newLeaseIsForReadersBehindAWriterToo() {
		LeaseLockRegistry patient = patient();
		LockHandle writer = hold(patient, exclusive("key").build());
		CompletableFuture<LockHandle> reader = waiting(patient, shared("key").build());
		CompletableFuture<LockHandle> next = waiting(patient, exclusive("key").build());
		CompletableFuture<LockHandle> late = waiting(patient, shared("key").build());
		writer.release();
		assertThat(late.join().token()).isEqualTo(reader.join().token());
		assertThat(next).isNotDone();
		reader.join().release();
		late.join().release();
		next.join().release();
		patient.close();
	}

	@Test
	void batchGoesTogetherAlthoughAWriterOfAnotherProcessWaits() {
		LockHandle writer = hold(this.registry, exclusive("key").build());
		List<CompletableFuture<LockHandle>> readers = new ArrayList<>();
		IntStream.range(0, 5).forEach((i) -> readers.add(waiting(this.registry, shared("key").build())));
		CompletableFuture<LockHandle> next = waiting(this.other, exclusive("key").build());
		awaitQueuedInStore(this.other);
		LockHandle reader = writer.downgrade();
		List<LockHandle> together = readers.stream().map(CompletableFuture::join).toList();
		assertThat(together).allMatch(LockHandle::isValid);
		assertThat(next).isNotDone();
		reader.release();
		together.forEach(LockHandle::release);
		next.join().release();
	}

	@Test
	void readerBehindAWriterOfItsProcessDoesNotOvertakeAWriterOfAnotherProcess() {
		LeaseLockRegistry reserving = reserving();
		LockHandle writer = hold(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> next = waiting(reserving, exclusive("key").build());
		awaitQueuedInStore(reserving);
		CompletableFuture<LockHandle> reader = waiting(this.registry, shared("key").build());
		writer.release();
		LockHandle exclusive = next.join();
		assertThat(reader).isNotDone();
		exclusive.release();
		reader.join().release();
		reserving.close();
	}

	/** An upgrade blocks without end in Redisson (issue 4796). */
	@Test
	void upgradeIsRefusedAtOnce() {
		try (LockHandle reader = this.registry.acquire(shared("key").build())) {
			assertThatIllegalStateException().isThrownBy(() -> this.registry.acquire(exclusive("key").build()))
				.withMessageContaining("upgraded");
			assertThatIllegalStateException()
				.isThrownBy(() -> this.registry.readWriteLock("key").writeLock().tryLock());
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> this.registry.acquireAsync(exclusive("key").build(), reader).join())
				.withCauseInstanceOf(IllegalStateException.class);
			assertThat(reader.isValid()).isTrue();
		}
	}

	@Test
	void sharedInsideExclusiveIsNested() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		LockHandle reader = this.registry.acquire(shared("key").build());
		assertThat(reader.mode()).isEqualTo(LockMode.SHARED);
		assertThat(reader.token()).isEqualTo(writer.token());
		writer.release();
		assertThat(this.other.tryAcquire(tryShared("key"))).as("the lock is exclusive to the end").isEmpty();
		reader.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void nestedReaderDoesNotWaitForAWriter() {
		try (LockHandle reader = this.registry.acquire(shared("key").build())) {
			CompletableFuture<LockHandle> writer = waiting(this.registry, exclusive("key").build());
			this.registry.acquire(tryShared("key")).release();
			assertThat(reader.isValid()).isTrue();
			assertThat(writer).isNotDone();
			writer.cancel(false);
		}
	}

	@Test
	void readerWhoseTimeIsOverLeavesTheBatch() {
		LockHandle writer = hold(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> cancelled = waiting(this.registry, shared("key").build());
		CompletableFuture<LockHandle> reader = waiting(this.registry, shared("key").build());
		CompletableFuture<LockHandle> expiring = this.registry
			.acquireAsync(shared("key").waitTime(Duration.ofMillis(1)).build());
		assertThatExceptionOfType(CompletionException.class).isThrownBy(expiring::join)
			.withCauseInstanceOf(LockBusyException.class);
		cancelled.cancel(false);
		writer.release();
		reader.join().release();
		assertThat(isFreeInStore("key")).isTrue();
	}

}
