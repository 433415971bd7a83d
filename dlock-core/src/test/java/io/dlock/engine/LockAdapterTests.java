package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The contract of {@link Lock}.
 */
@Timeout(60)
class LockAdapterTests {

	private static final Duration LEASE = Duration.ofSeconds(20);

	private final TroubledStore store = new TroubledStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().commandTimeout(Duration.ofMillis(50)).shutdownTimeout(Duration.ZERO).build());

	private final Lock lock = this.registry.lock("key");

	@AfterEach
	void nothingIsLeft() {
		Thread.interrupted();
		assertThat(LockHandle.current()).isEmpty();
		this.registry.close();
		assertThat(this.registry.queues().size()).isZero();
	}

	private void holdElsewhere(Duration lease) {
		this.store.memory.acquire(new AcquireCommand("key", "elsewhere", lease, "another instance", ""));
	}

	@Test
	void lockAndUnlockNest() {
		this.lock.lock();
		this.lock.lock();
		this.lock.unlock();
		assertThat(this.store.memory.find("key")).isPresent();
		this.lock.unlock();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void unlockWithoutTheLockIsRefused() {
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock)
			.withMessageContaining("'key'");
		this.lock.lock();
		CompletableFuture<Void> other = CompletableFuture.runAsync(this.lock::unlock);
		assertThatExceptionOfType(Exception.class).isThrownBy(other::get)
			.withCauseInstanceOf(IllegalMonitorStateException.class);
		this.lock.unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock);
	}

	@Test
	void adaptersOfOneKeyAreInterchangeable() {
		this.lock.lock();
		this.registry.lock("key").unlock();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void adaptersOfOneRequestAreEqual() {
		Lock same = this.registry.lock("key");
		assertThat(same).isEqualTo(this.lock).hasSameHashCodeAs(this.lock).isNotSameAs(this.lock);
		assertThat(this.lock).isNotEqualTo(this.registry.lock("other"))
			.isNotEqualTo(this.registry.lock(LockRequest.builder("key").lease(LEASE).build()))
			.isNotEqualTo("key");
		try (LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.registry.settings())) {
			assertThat(other.lock("key")).isNotEqualTo(this.lock);
		}
	}

	@Test
	void holderIsTheThreadThatHasLocked() throws Exception {
		assertThat(this.registry.isHeldByCurrentThread("key")).isFalse();
		this.lock.lock();
		assertThat(this.registry.isHeldByCurrentThread("key")).isTrue();
		assertThat(this.registry.isHeldByCurrentThread("other")).isFalse();
		assertThat(CompletableFuture.supplyAsync(() -> this.registry.isHeldByCurrentThread("key")).get()).isFalse();
		try (LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.registry.settings())) {
			assertThat(other.isHeldByCurrentThread("key")).isFalse();
		}
		this.lock.unlock();
		assertThat(this.registry.isHeldByCurrentThread("key")).isFalse();
	}

	@Test
	void tryLockTriesOnceAndIgnoresInterrupts() {
		holdElsewhere(LEASE);
		assertThat(this.lock.tryLock()).isFalse();
		assertThat(this.store.acquires).hasValue(1);
		this.store.memory.clear();
		Thread.currentThread().interrupt();
		assertThat(this.lock.tryLock()).isTrue();
		assertThat(Thread.interrupted()).isTrue();
		this.lock.unlock();
	}

	@Test
	void timedTryLockWaits() throws Exception {
		holdElsewhere(LEASE);
		assertThat(this.lock.tryLock(10, TimeUnit.MILLISECONDS)).isFalse();
		assertThat(this.lock.tryLock(-1, TimeUnit.SECONDS)).isFalse();
		int before = this.store.acquires.get();
		CompletableFuture<Void> freed = CompletableFuture.runAsync(() -> {
			Awaitility.await().until(() -> this.store.acquires.get() > before + 1);
			this.store.memory.clear();
		});
		assertThat(this.lock.tryLock(20, TimeUnit.SECONDS)).isTrue();
		freed.join();
		this.lock.unlock();
		assertThat(this.lock.tryLock(Long.MAX_VALUE, TimeUnit.NANOSECONDS)).isTrue();
		this.lock.unlock();
		assertThat(this.lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
		this.lock.unlock();
	}

	@Test
	void interruptedThreadIsRefusedAndItsFlagCleared() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(this.lock::lockInterruptibly);
		assertThat(Thread.interrupted()).isFalse();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> this.lock.tryLock(1, TimeUnit.SECONDS));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void interruptedHolderIsRefusedOnceMore() {
		this.lock.lock();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(this.lock::lockInterruptibly);
		assertThat(Thread.interrupted()).isFalse();
		this.lock.unlock();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void interruptEndsAnInterruptibleWait() throws Exception {
		holdElsewhere(LEASE);
		CompletableFuture<Boolean> flag = new CompletableFuture<>();
		Thread waiting = new Thread(() -> {
			try {
				this.lock.lockInterruptibly();
			}
			catch (InterruptedException ex) {
				flag.complete(Thread.currentThread().isInterrupted());
			}
		});
		waiting.start();
		Awaitility.await().until(() -> this.store.acquires.get() > 2);
		waiting.interrupt();
		assertThat(flag.get()).isFalse();
		waiting.join();
	}

	@Test
	void lockIgnoresInterruptsAndKeepsTheFlag() throws Exception {
		holdElsewhere(LEASE);
		CompletableFuture<Boolean> flag = new CompletableFuture<>();
		CountDownLatch finish = new CountDownLatch(1);
		Thread waiting = new Thread(() -> {
			this.lock.lock();
			flag.complete(Thread.currentThread().isInterrupted());
			this.lock.unlock();
			finish.countDown();
		});
		waiting.start();
		Awaitility.await().until(() -> this.store.acquires.get() > 2);
		waiting.interrupt();
		int before = this.store.acquires.get();
		Awaitility.await().until(() -> this.store.acquires.get() > before + 2);
		assertThat(flag).isNotDone();
		this.store.memory.release("key", "elsewhere");
		assertThat(flag.get()).isTrue();
		finish.await();
	}

	@Test
	void unlockOfLostLockThrows() {
		this.lock.lock();
		LockHandle handle = LockHandle.current().orElseThrow();
		assertThat(this.registry.isHeldByCurrentThread("key")).isTrue();
		ForcedLoss.of(this.registry, handle);
		assertThat(this.registry.isHeldByCurrentThread("key")).as("after the loss").isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::unlock);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock);
	}

	@Test
	void conditionsAreNotSupported() {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(this.lock::newCondition);
	}

}
