package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The signals of a store to processes in its queue.
 */
class StoreQueueSignalTests extends AbstractStoreQueueTests {

	@Test
	void r29WaitingProcessIsSignalledWhenTheLockIsAvailable() throws Exception {
		Contended lock = contended(NEVER);
		int looks = this.thereStore.acquires.get();
		lock.handOver();
		assertThat(this.thereStore.acquires).hasValue(looks + 1);
	}

	@Test
	void blockingRequestIsSignalled() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		for (int i = 0; i < 50; i++) {
			LockHandle held = heldHere();
			CompletableFuture<Long> waiter = CompletableFuture
				.supplyAsync(() -> there.execute(patient(), LockHandle::token));
			awaitQueued(1);
			held.release();
			assertThat(waiter.get()).isGreaterThan(held.token());
		}
	}

	@Test
	void signalBeforeTheRefusalIsKept() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		AtomicReference<LockHandle> held = new AtomicReference<>(heldHere());
		this.thereStore.afterAcquire = () -> {
			LockHandle handle = held.get();
			if (handle != null && Waiting.processes(this.memory, "key") == 1 && held.compareAndSet(handle, null)) {
				handle.release();
			}
		};
		there.acquireAsync(patient()).get().release();
		assertThat(held).hasNullValue();
	}

	/**
	 * A driver parks the thread during its call, which consumes the permit of the signal.
	 */
	@Test
	@Timeout(20)
	void signalThatWakesTheDriverIsKept() {
		LeaseLockRegistry there = there(NEVER);
		LockRequest request = LockRequest.builder("key").lease(NEVER).build();
		AtomicReference<LockHandle> held = new AtomicReference<>(this.here.acquireAsync(request).join());
		this.thereStore.afterAcquire = () -> {
			LockHandle handle = held.get();
			if (handle != null && Waiting.processes(this.memory, "key") == 1 && held.compareAndSet(handle, null)) {
				handle.release();
				LockSupport.parkNanos(1);
			}
		};
		there.acquire(patient()).release();
		assertThat(held).hasNullValue();
	}

	@Test
	void b20LostSignalCostsAPollInterval() throws Exception {
		this.thereStore.messagesAreLost = true;
		contended(Duration.ofMillis(200)).handOver();
	}

	@Test
	void requestBehindAnotherProcessWaitsForTheMessage() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		LockHandle reader = there.acquireAsync(patient().withMode(LockMode.SHARED)).get();
		CompletableFuture<LockHandle> next = queued(this.here);
		CompletableFuture<LockHandle> waiter = there.acquireAsync(patient());
		Awaitility.await().until(() -> there.queues().waiting().get(0).isPreceded());
		assertThat(this.here.queues().waiting()).noneMatch(QueuedRequest::isPreceded);
		int before = this.thereStore.acquires.get();
		reader.release();
		next.get().release();
		waiter.get().release();
		assertThat(this.thereStore.acquires).hasValue(before + 1);
	}

	/**
	 * It would find out by itself only with its next poll.
	 */
	@Test
	void requestBehindAnotherProcessIsWokenByItsOwnProcessIfNoMessageComes() throws Exception {
		this.thereStore.hasNoMailboxes = true;
		LeaseLockRegistry there = there(Duration.ofMillis(100));
		LockHandle reader = there.acquireAsync(patient().withMode(LockMode.SHARED)).get();
		CompletableFuture<LockHandle> next = queued(this.here);
		CompletableFuture<LockHandle> waiter = there.acquireAsync(patient());
		awaitQueued(2);
		int before = this.thereStore.acquires.get();
		Awaitility.await().until(() -> this.thereStore.acquires.get() > before + 1);
		assertThat(there.queues().waiting()).hasSize(1).noneMatch(QueuedRequest::isPreceded);
		reader.release();
		// in any order: on a busy machine the first may miss its turn
		CompletableFuture.allOf(next.thenAccept(LockHandle::release), waiter.thenAccept(LockHandle::release)).get();
	}

	@Test
	void waitTimeEndsThePauseOfAProcessThatListens() {
		LeaseLockRegistry there = there(NEVER);
		LockHandle held = this.here.acquireAsync(LockRequest.builder("key").lease(NEVER).build()).join();
		CompletableFuture<LockHandle> first = queued(there);
		first.cancel(false);
		CompletableFuture<Boolean> tried = CompletableFuture
			.supplyAsync(() -> there.tryAcquire("key", Duration.ofMillis(100)).isPresent());
		assertThat(tried).succeedsWithin(Patience.EVENTUALLY).isEqualTo(false);
		held.release();
	}

	@Test
	void lateSignalIsPassedOn() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		LockHandle held = heldHere();
		queued(there).cancel(false);
		awaitQueued(0);
		this.memory.acquire(new AcquireCommand("key", "gone", Duration.ofSeconds(30), "gone", "",
				there.membership().address(), true, null));
		int before = this.thereStore.leaves.get();
		held.release();
		Awaitility.await().until(() -> this.thereStore.leaves.get() > before);
		heldHere().release();
	}

	/**
	 * A dead holder signals to no process.
	 */
	@Test
	void b50ProcessWithoutSignalTriesAtTheEndOfTheLease() throws Exception {
		this.memory.acquire(new AcquireCommand("key", "dead", Duration.ofSeconds(2), "dead", ""));
		there(NEVER).acquireAsync(patient()).get(40, TimeUnit.SECONDS).release();
	}

	@Test
	void signalForHeldLockIsAnsweredOnce() throws Exception {
		Contended lock = contended(NEVER);
		assertThatCallIsAnsweredOnce();
		lock.handOver();
	}

	@Test
	void signalForHeldLockIsAnsweredOnceByAThread() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		LockHandle held = heldHere();
		CompletableFuture<Long> waiter = CompletableFuture
			.supplyAsync(() -> there.execute(patient(), LockHandle::token));
		assertThatCallIsAnsweredOnce();
		held.release();
		assertThat(waiter.get()).isGreaterThan(held.token());
	}

	/**
	 * An attempt is repeated at once if the signal comes during it.
	 */
	private void assertThatCallIsAnsweredOnce() {
		awaitQueued(1);
		int looks = this.thereStore.acquires.get();
		this.thereStore.call.accept("key");
		Awaitility.await().until(() -> this.thereStore.acquires.get() > looks);
		Awaitility.await().during(Duration.ofMillis(500)).until(() -> this.thereStore.acquires.get() <= looks + 2);
	}

}
