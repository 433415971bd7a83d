package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.store.StoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Interrupts at every point.
 */
class InterruptTests extends AbstractLeaseLockRegistryTests {

	@Test
	void interruptedThreadDoesNotCallTheStore() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> this.registry.acquire("key"));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.acquires).hasValue(0);
	}

	@Test
	void r50InterruptEndsTheWaitAndKeepsTheFlag() throws Exception {
		holdElsewhere("key", LEASE);
		List<Boolean> flag = Collections.synchronizedList(new ArrayList<>());
		Thread[] waiting = new Thread[1];
		CompletableFuture<LockHandle> waiter = inOtherThread(() -> {
			waiting[0] = Thread.currentThread();
			try {
				return this.registry.acquire(request("key", LEASE, Duration.ofSeconds(30)));
			}
			finally {
				flag.add(Thread.currentThread().isInterrupted());
			}
		});
		Awaitility.await().until(() -> this.store.acquires.get() > 2);
		waiting[0].interrupt();
		assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockInterruptedException.class);
		assertThat(flag).containsExactly(true);
	}

	@Test
	void r50InterruptInTheLocalQueueEndsTheWait() throws Exception {
		LockHandle held = this.registry.acquire("key");
		Thread[] waiting = new Thread[1];
		CompletableFuture<LockHandle> waiter = inOtherThread(() -> {
			waiting[0] = Thread.currentThread();
			return this.registry.acquire(request("key", LEASE, Duration.ofSeconds(30)));
		});
		Awaitility.await().until(() -> waitersOf("key") == 1);
		waiting[0].interrupt();
		assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockInterruptedException.class);
		held.release();
	}

	@Test
	void b25InterruptedThreadReleasesAndKeepsItsFlag() {
		List<Boolean> interruptedInStore = new ArrayList<>();
		LockHandle handle = this.registry.acquire("key");
		this.store.beforeRelease = () -> interruptedInStore.add(Thread.currentThread().isInterrupted());
		Thread.currentThread().interrupt();
		handle.release();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(interruptedInStore).as("a driver would give up").containsExactly(false);
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void interruptedThreadClosesTheRegistryAndKeepsItsFlag() {
		List<Boolean> interruptedInStore = new ArrayList<>();
		this.registry.acquireAsync(LockRequest.of("key")).join();
		this.store.beforeRelease = () -> interruptedInStore.add(Thread.currentThread().isInterrupted());
		Thread.currentThread().interrupt();
		this.registry.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(interruptedInStore).containsExactly(false);
		assertThat(isFreeInStore("key")).isTrue();
	}

	/**
	 * The interrupt comes when a lock is taken away, before the revocations.
	 */
	@Test
	void r51InterruptDuringTheCloseLeavesNoRevocationOut() {
		LeaseLockRegistry closing = another(new LeaseLockRegistry(this.store, this.settings));
		this.store.lostAcquireReplies.set(1);
		this.store.beforeRelease = () -> {
			if (Thread.currentThread().getName().startsWith("dlock-revoker")) {
				throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
			}
			Thread.currentThread().interrupt();
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> closing.acquire(noWait("key")));
		closing.acquireAsync(LockRequest.of("held")).join();
		closing.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void interruptEndsTheWaitOfASecondCloserAndKeepsItsFlag() {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofMinutes(5)).build());
		LockHandle held = patient.acquireAsync(LockRequest.of("key")).join();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(patient::close);
		Awaitility.await().until(() -> !patient.isRunning());
		Thread.currentThread().interrupt();
		patient.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(closed).isNotDone();
		held.release();
		closed.join();
	}

	@Test
	void r50InterruptDuringStoreCallRevokesTheGrant() throws Exception {
		CountDownLatch never = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(never);
		Thread[] waiting = new Thread[1];
		CompletableFuture<LockHandle> waiter = inOtherThread(() -> {
			waiting[0] = Thread.currentThread();
			return this.registry.acquire(request("key", LEASE, Duration.ZERO));
		});
		arrived.await();
		waiting[0].interrupt();
		assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockInterruptedException.class);
		Awaitility.await().until(() -> this.store.releases.get() > 0);
	}

}
