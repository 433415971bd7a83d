package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ReadWriteLockTests extends AbstractMemberTests {

	@Test
	void readLockIsSharedAndWriteLockIsExclusive() throws Exception {
		ReadWriteLock lock = this.registry.readWriteLock("key");
		lock.readLock().lock();
		assertThat(inOtherThread(() -> lock.writeLock().tryLock()).join()).isFalse();
		assertThat(inOtherThread(() -> {
			boolean locked = lock.readLock().tryLock(20, TimeUnit.SECONDS);
			lock.readLock().unlock();
			return locked;
		}).join()).isTrue();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock.writeLock()::unlock);
		lock.readLock().unlock();
		lock.writeLock().lock();
		assertThat(inOtherThread(() -> lock.readLock().tryLock()).join()).isFalse();
		lock.readLock().lock();
		lock.writeLock().unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock.writeLock()::unlock);
		lock.readLock().unlock();
		assertThat(isFreeInStore("key")).isTrue();
	}

	/**
	 * As long as readers are let in, there is no moment without one: each stays until
	 * another one has come.
	 */
	@Test
	void writerIsNotStarved() {
		AtomicBoolean over = new AtomicBoolean();
		AtomicInteger reads = new AtomicInteger();
		List<CompletableFuture<Integer>> readers = IntStream.range(0, 6).mapToObj((i) -> inOtherThread(() -> {
			LeaseLockRegistry process = (i % 2 == 0) ? this.registry : this.other;
			while (!over.get()) {
				try (LockHandle reader = process.acquire(shared("key").waitTime(LockRequest.FOREVER).build())) {
					stayUntilAnotherComes(reads);
				}
			}
			return 0;
		})).toList();
		Awaitility.await().until(() -> reads.get() > 10);
		for (LeaseLockRegistry process : List.of(this.registry, this.other, this.registry, this.other)) {
			int before = reads.get();
			process.acquire(exclusive("key").build()).release();
			assertThat(reads.get() - before).as("readers before the writer").isLessThan(1000);
		}
		over.set(true);
		readers.forEach(CompletableFuture::join);
	}

	/**
	 * Stay for longer than a process uses an answer of the store. None comes behind the
	 * last reader before a writer.
	 */
	private static void stayUntilAnotherComes(AtomicInteger reads) throws InterruptedException {
		int number = reads.incrementAndGet();
		TimeUnit.MILLISECONDS.sleep(30);
		for (int i = 0; i < 250 && reads.get() == number; i++) {
			TimeUnit.MILLISECONDS.sleep(1);
		}
	}

	@Test
	void readersNeverMeetAWriter() {
		AtomicInteger readers = new AtomicInteger();
		AtomicInteger writers = new AtomicInteger();
		AtomicInteger mostReaders = new AtomicInteger();
		AtomicInteger cycles = new AtomicInteger();
		AtomicLong lastWriter = new AtomicLong();
		List<CompletableFuture<Integer>> threads = IntStream.range(0, 8).mapToObj((i) -> inOtherThread(() -> {
			LeaseLockRegistry process = (i % 2 == 0) ? this.registry : this.other;
			while (cycles.incrementAndGet() < 6000) {
				boolean write = (cycles.get() + i) % 10 == 0;
				LockHandle handle = process
					.acquire((write ? exclusive("key") : shared("key")).waitTime(LockRequest.FOREVER).build());
				if (write) {
					check(writers.incrementAndGet() == 1 && readers.get() == 0, "a writer is alone");
					check(handle.token() > lastWriter.getAndSet(handle.token()), "tokens rise");
					writers.decrementAndGet();
					if (cycles.get() % 3 == 0) {
						readers.incrementAndGet();
						handle = downgrade(handle, readers);
						readers.decrementAndGet();
					}
				}
				else {
					mostReaders.accumulateAndGet(readers.incrementAndGet(), Math::max);
					if (mostReaders.get() < 2) {
						Thread.yield();
					}
					check(writers.get() == 0, "no writer beside a reader");
					check(handle.token() > lastWriter.get(), "a reader has a higher token than earlier writers");
					readers.decrementAndGet();
				}
				handle.release();
			}
			return 0;
		})).toList();
		Awaitility.await()
			.atMost(Duration.ofSeconds(50))
			.until(() -> threads.stream().allMatch(CompletableFuture::isDone));
		threads.forEach(CompletableFuture::join);
		assertThat(mostReaders.get()).isGreaterThan(1);
	}

	private static LockHandle downgrade(LockHandle writer, AtomicInteger readers) {
		LockHandle reader = writer.downgrade();
		check(reader.isValid() && reader.mode() == LockMode.SHARED && readers.get() > 0, "a shared lock");
		return reader;
	}

	private static void check(boolean holds, String rule) {
		if (!holds) {
			throw new AssertionError(rule);
		}
	}

	@Test
	void readerHoldsTheKey() {
		ReadWriteLock lock = this.registry.readWriteLock("key");
		lock.readLock().lock();
		assertThat(this.registry.isHeldByCurrentThread("key")).isTrue();
		assertThat(inOtherThread(() -> this.registry.isHeldByCurrentThread("key")).join()).isFalse();
		lock.readLock().unlock();
		assertThat(this.registry.isHeldByCurrentThread("key")).isFalse();
		assertThat(this.registry.readWriteLock("key")).isEqualTo(lock);
	}

	@Test
	void lockOfASharedRequestIsARead() {
		Lock read = this.registry.lock(shared("key").build());
		read.lock();
		LockHandle other = hold(this.other, shared("key").build());
		assertThat(other.isValid()).isTrue();
		read.unlock();
	}

}
