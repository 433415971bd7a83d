package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.beans.DirectFieldAccessor;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.Lease;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DowngradeTests extends AbstractMemberTests {

	/** Counts that the locks know nothing of. */
	private final AtomicInteger writers = new AtomicInteger();

	private final AtomicInteger readers = new AtomicInteger();

	/** Guarded by the lock. */
	private int version;

	/** A downgrade loses the lock in Redisson (issue 4217). */
	@Test
	void lockIsSharedAfterwards() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		CompletableFuture<LockHandle> waiting = waiting(this.registry, shared("key").build());
		LockHandle reader = writer.downgrade();
		assertThat(reader.isValid()).isTrue();
		assertThat(reader.mode()).isEqualTo(LockMode.SHARED);
		assertThat(reader.token()).isGreaterThan(writer.token());
		assertThat(writer.isValid()).isFalse();
		writer.release();
		assertThat(LockHandle.current()).containsSame(reader);
		assertThat(waiting.join().token()).as("shares the lease").isEqualTo(reader.token());
		this.other.tryAcquire(tryShared("key")).orElseThrow().release();
		waiting.join().release();
		reader.release();
	}

	@Test
	void comesBeforeQueuedWriters() {
		LockHandle writer = hold(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> local = waiting(this.registry, exclusive("key").build());
		CompletableFuture<LockHandle> remote = waiting(this.other, exclusive("key").build());
		awaitQueuedInStore(this.other);
		LockHandle reader = writer.downgrade();
		assertThat(local).isNotDone();
		assertThat(remote).isNotDone();
		assertThat(this.other.tryAcquire(tryShared("key"))).isEmpty();
		reader.release();
		CompletableFuture.anyOf(local, remote).join();
		Awaitility.await().until(() -> local.isDone() ^ remote.isDone());
		(local.isDone() ? local : remote).join().release();
		CompletableFuture.allOf(local, remote).join();
		local.join().release();
		remote.join().release();
	}

	@Test
	void noWriterComesBetweenAWriterAndTheReaderThatItBecomes() {
		List<CompletableFuture<Integer>> threads = IntStream.range(0, 8).mapToObj((i) -> inOtherThread(() -> {
			LeaseLockRegistry process = (i % 2 == 0) ? this.registry : this.other;
			for (int n = 0; n < 150; n++) {
				if (i < 4) {
					write(process);
				}
				else {
					read(process.acquire(shared("key").build()));
				}
			}
			return 150;
		})).toList();
		assertThat(threads.stream().mapToInt(CompletableFuture::join).sum()).isEqualTo(1200);
		assertThat(this.version).isEqualTo(600);
	}

	private void write(LeaseLockRegistry process) {
		try (LockHandle writer = process.acquire(exclusive("key").build())) {
			assertThat(this.writers.incrementAndGet()).as("writers").isOne();
			assertThat(this.readers).as("readers beside a writer").hasValue(0);
			this.version++;
			int written = this.version;
			this.writers.decrementAndGet();
			assertThat(read(writer.downgrade())).as("the version that was written").isEqualTo(written);
		}
	}

	private int read(LockHandle shared) {
		try (LockHandle reader = shared) {
			this.readers.incrementAndGet();
			int read = this.version;
			reader.assertHeld();
			assertThat(this.writers).as("writers beside a reader").hasValue(0);
			assertThat(this.version).as("read again").isEqualTo(read);
			this.readers.decrementAndGet();
			return read;
		}
	}

	@Test
	void nestedHandlesPreventIt() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		LockHandle nested = this.registry.acquire(exclusive("key").build());
		assertThatIllegalStateException().isThrownBy(nested::downgrade).withMessageContaining("other handles");
		assertThat(writer.isValid() && nested.isValid()).isTrue();
		nested.release();
		LockHandle reader = writer.downgrade();
		assertThatIllegalStateException().isThrownBy(reader::downgrade).withMessageContaining("not exclusive");
		assertThatIllegalStateException().isThrownBy(writer::downgrade).withMessageContaining("released");
		reader.release();
	}

	@Test
	void handleOfNoThreadIsNotBoundByItsDowngrade() {
		LockHandle writer = this.registry.acquireAsync(exclusive("key").build()).join();
		LockHandle reader = writer.downgrade();
		assertThat(LockHandle.current()).isEmpty();
		reader.release();
	}

	/**
	 * The other thread has ended the handle, and then finds that it was not the last.
	 */
	@Test
	void lockThatAnotherThreadReleasesDuringItsDowngradeIsFree() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = another(new LeaseLockRegistry(this.store, this.settings, clock));
		LockHandle writer = turned.acquireAsync(exclusive("key").build()).join();
		AtomicBoolean closed = (AtomicBoolean) Objects
			.requireNonNull(new DirectFieldAccessor(writer).getPropertyValue("closed"));
		Thread caller = Thread.currentThread();
		clock.onReading = () -> {
			if (Thread.currentThread() == caller) {
				closed.set(true);
			}
		};
		assertThatIllegalStateException().isThrownBy(writer::downgrade).withMessageContaining("has been released");
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void lostLockCannotBeDowngraded() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.registry.console().forceRelease("key", writer.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void lostLockIsLostWhateverElsePreventsItsDowngrade() {
		LockHandle writer = this.registry.acquire(exclusive("key").minHold(LEASE).build());
		LockHandle reader = this.registry.acquire(shared("other").build());
		for (LockHandle lost : List.of(reader, writer)) {
			this.registry.console().forceRelease(lost.key(), lost.token());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::downgrade)
				.withMessageContainingAll(lost.key(), "was lost", "released by force");
		}
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void lockThatTheStoreGaveAwayIsLost() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.store.memory.forceRelease("key", writer.token() / Lease.TOKENS_PER_LEASE);
		LockHandle next = hold(this.other, exclusive("key").build());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(writer.isValid()).isFalse();
		assertThat(next.isValid()).isTrue();
	}

	@Test
	void lockThatAnotherWriterHadMeanwhileIsLost() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.store.memory.forceRelease("key", writer.token() / Lease.TOKENS_PER_LEASE);
		this.other.acquireAsync(exclusive("key").build()).join().release();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(writer.isValid()).isFalse();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void readersThatCameAfterALossKeepTheirLock() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.store.memory.forceRelease("key", writer.token() / Lease.TOKENS_PER_LEASE);
		LockHandle reader = hold(this.other, shared("key").build());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(reader.isValid()).isTrue();
	}

	/**
	 * The request gives up a lease that the store has given away, and asks again.
	 */
	@Test
	void readerBehindAWriterThatIsGoneFromTheStoreGetsTheLock() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		CompletableFuture<LockHandle> reader = waiting(this.registry, shared("key").build());
		this.store.memory.forceRelease("key", writer.token() / Lease.TOKENS_PER_LEASE);
		writer.release();
		reader.join().release();
	}

	/**
	 * Its holder has the time of the shutdown to finish its work.
	 */
	@Test
	void lockOfAClosingRegistryStaysExclusive() {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				LockSettings.builder().shutdownTimeout(Duration.ofMinutes(1)).build());
		LockHandle handle = patient.acquireAsync(LockRequest.of("key")).join();
		CompletableFuture<Void> closing = CompletableFuture.runAsync(patient::close);
		Awaitility.await().until(() -> !patient.queues().isOpen());
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(handle::downgrade);
		assertThat(handle.isValid()).isTrue();
		assertThat(this.other.tryAcquire(tryShared("key"))).isEmpty();
		handle.release();
		assertThat(closing).succeedsWithin(Patience.EVENTUALLY);
	}

	/**
	 * The exclusive lock is gone then, which no other exception must deny.
	 */
	@Test
	void lockWhoseRegistryClosesDuringItsDowngradeIsLost() {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				LockSettings.builder().shutdownTimeout(Duration.ofMinutes(1)).build());
		LockHandle handle = patient.acquireAsync(LockRequest.of("key")).join();
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch asking = this.store.holdAcquires(answer);
		CompletableFuture<LockHandle> downgrade = CompletableFuture.supplyAsync(handle::downgrade);
		awaitQuietly(asking);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(patient::close);
		Awaitility.await().until(() -> !patient.queues().isOpen());
		answer.countDown();
		assertThat(downgrade).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class);
		assertThat(closing).succeedsWithin(Patience.EVENTUALLY);
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void failureOfTheStoreEndsTheLock() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.store.lostAcquireReplies.set(1);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(writer::downgrade);
		assertThat(writer.isValid()).isFalse();
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void failureOfTheStoreIsNotWaitedForTwice() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		Set<Thread> releasing = ConcurrentHashMap.newKeySet();
		this.store.beforeRelease = () -> releasing.add(Thread.currentThread());
		this.store.lostAcquireReplies.set(1);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(writer::downgrade);
		Awaitility.await().until(() -> isFreeInStore("key"));
		assertThat(releasing).isNotEmpty().doesNotContain(Thread.currentThread());
	}

	/**
	 * The first request for the exclusive lock has not been answered, so that its owner
	 * is revoked when the lock ends. Should that be first, the store passes the lock on.
	 */
	@Test
	void lateRequestIsRevokedAfterTheAnswer() {
		this.store.lostAcquireReplies.set(1);
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		CompletableFuture<LockHandle> remote = waiting(this.other, exclusive("key").build());
		awaitQueuedInStore(this.other);
		AtomicInteger revocations = new AtomicInteger();
		this.store.beforeRelease = revocations::incrementAndGet;
		this.store.beforeAcquire = () -> {
			// revocations have a thread of their own
			this.registry.revoker().flush(Deadline.after(MachineClock.SYSTEM, LEASE));
			assertThat(revocations).hasValue(0);
		};
		LockHandle reader = writer.downgrade();
		this.store.beforeAcquire = () -> {
		};
		assertThat(reader.isValid()).isTrue();
		assertThat(remote).isNotDone();
		Awaitility.await().until(() -> revocations.get() > 0);
		assertThat(remote).isNotDone();
		reader.release();
		remote.join().release();
	}

	@Test
	void exclusiveLockEndsForListenersWhateverTheOutcome() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		this.registry.acquire(exclusive("key").build()).downgrade().release();
		assertThat(events).hasExactlyElementsOfTypes(LockEvent.Acquired.class, LockEvent.Released.class,
				LockEvent.Acquired.class, LockEvent.Released.class);
		events.clear();
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		this.store.lostAcquireReplies.set(1);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(writer::downgrade);
		assertThat(events).hasExactlyElementsOfTypes(LockEvent.Acquired.class, LockEvent.Released.class);
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void errorOfAListenerLeavesNoReaderBehind() {
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Released) {
				throw new OutOfMemoryError("of the listener");
			}
		});
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(writer::downgrade);
		assertThat(isFreeInStore("key")).isTrue();
	}

	/**
	 * A try would wait for the release, and this call cannot wait.
	 */
	@Test
	void releaseOfAnotherLockInTheBackgroundIsNoLoss() {
		CountDownLatch arrived = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		this.store.beforeReleaseIsAnswered = () -> {
			arrived.countDown();
			awaitQuietly(answer);
		};
		CompletableFuture<Void> released = this.registry.acquireAsync(shared("key").build()).join().releaseAsync();
		awaitQuietly(arrived);
		this.store.beforeReleaseIsAnswered = null;
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		try (LockHandle reader = writer.downgrade()) {
			assertThat(reader.isValid()).isTrue();
			assertThat(released).isNotDone();
		}
		finally {
			answer.countDown();
		}
		released.join();
	}

	@Test
	void interruptedThreadDowngrades() {
		LockHandle writer = this.registry.acquire(exclusive("key").build());
		AtomicBoolean during = new AtomicBoolean();
		this.store.beforeAcquire = () -> during.set(Thread.currentThread().isInterrupted());
		Thread.currentThread().interrupt();
		LockHandle reader = writer.downgrade();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(during).as("during the call, which the flag would break").isFalse();
		assertThat(reader.isValid()).isTrue();
		reader.release();
	}

}
