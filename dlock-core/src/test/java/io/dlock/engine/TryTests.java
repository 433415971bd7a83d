package io.dlock.engine;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests that do not wait, and requests whose wait time is over. They have no place in
 * the queue, and are busy only if the lock has a holder.
 */
class TryTests extends AbstractLeaseLockRegistryTests {

	private final CountDownLatch storeAnswers = new CountDownLatch(1);

	private CompletableFuture<Optional<LockHandle>> tryInOtherThread() {
		return inOtherThread(() -> this.registry.tryAcquire(noWait("key")).map((handle) -> {
			handle.release();
			return handle;
		}));
	}

	@Test
	void tryWaitsForTheAnswerToThePrecedingTry() throws Exception {
		CountDownLatch asking = this.store.holdAcquires(this.storeAnswers);
		CountDownLatch told = new CountDownLatch(1);
		CompletableFuture<Boolean> first = inOtherThread(() -> {
			LockHandle handle = this.registry.acquire(noWait("key"));
			told.await();
			handle.release();
			return true;
		});
		asking.await();
		CompletableFuture<Optional<LockHandle>> second = tryInOtherThread();
		Awaitility.await().until(() -> this.registry.counts().waiting() == 2);
		assertThat(second).isNotDone();
		this.storeAnswers.countDown();
		assertThat(second.get()).as("the first holds the lock by now").isEmpty();
		told.countDown();
		assertThat(first.get()).isTrue();
		assertThat(this.store.acquires).hasValue(1);
	}

	@Test
	void tryCallsTheStoreIfThePrecedingTryEndsWithoutAnswer() throws Exception {
		CountDownLatch asking = this.store.holdAcquires(this.storeAnswers);
		CompletableFuture<LockHandle> first = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				first.complete(this.registry.acquire(noWait("key")));
			}
			catch (LockInterruptedException ex) {
				first.completeExceptionally(ex);
			}
		});
		thread.start();
		asking.await();
		CompletableFuture<Optional<LockHandle>> second = tryInOtherThread();
		Awaitility.await().until(() -> this.registry.counts().waiting() == 2);
		this.store.beforeAcquire = () -> {
		};
		thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(first::get)
			.withCauseInstanceOf(LockInterruptedException.class);
		assertThat(second.get()).isPresent();
	}

	@Test
	void tryGetsTheFailureOfThePrecedingTry() throws Exception {
		CountDownLatch asking = this.store.holdAcquires(this.storeAnswers);
		CompletableFuture<LockHandle> first = inOtherThread(() -> this.registry.acquire(noWait("key")));
		asking.await();
		CompletableFuture<Optional<LockHandle>> second = tryInOtherThread();
		Awaitility.await().until(() -> this.registry.counts().waiting() == 2);
		this.store.down = true;
		this.storeAnswers.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(first::get)
			.withCauseInstanceOf(LockStoreException.class);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(second::get)
			.withCauseInstanceOf(LockStoreException.class);
		this.store.down = false;
	}

	@Test
	void waitEndingBeforeTheFirstAnswerIsNotBusy() throws Exception {
		CountDownLatch asking = this.store.holdAcquires(this.storeAnswers);
		CompletableFuture<LockHandle> first = this.registry.acquireAsync(request("key", LEASE, Duration.ofSeconds(30)));
		asking.await();
		CompletableFuture<LockHandle> second = inOtherThread(
				() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(20))));
		Awaitility.await().until(() -> this.registry.counts().waiting() == 2 && waitersOf("key") == 0);
		this.store.misconfigured = true;
		this.storeAnswers.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(second::get)
			.withCauseInstanceOf(LockStoreException.class);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(first::get)
			.withCauseInstanceOf(LockStoreException.class);
		this.store.misconfigured = false;
	}

	/**
	 * The answer of the former first, that the lock is held, is out of date.
	 */
	@Test
	void tryBehindASuccessorWaitsForItsAnswer() throws Exception {
		LockHandle held = this.registry.acquireAsync(LockRequest.of("key")).join();
		CompletableFuture<LockHandle> next = this.registry
			.acquireAsync(request("key", LEASE.plusSeconds(1), LockRequest.FOREVER));
		Awaitility.await().until(() -> waitersOf("key") == 1);
		CountDownLatch asking = this.store.holdAcquires(this.storeAnswers);
		held.release();
		asking.await();
		CompletableFuture<Optional<LockHandle>> tried = tryInOtherThread();
		Awaitility.await().until(() -> tried.isDone() || this.registry.counts().waiting() == 2);
		this.store.misconfigured = true;
		this.storeAnswers.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(tried::get)
			.withCauseInstanceOf(LockStoreException.class);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(next::get)
			.withCauseInstanceOf(LockStoreException.class);
		this.store.misconfigured = false;
	}

	@Test
	void tryBehindLocalHolderIsBusyAtOnce() {
		LockHandle held = this.registry.acquireAsync(LockRequest.of("key")).join();
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.registry.acquire(noWait("key")))
			.withMessageContaining("held by test [" + Thread.currentThread().getName() + "]")
			.satisfies((ex) -> assertThat(ex.holder()).hasValueSatisfying((holder) -> {
				assertThat(holder.token()).isEqualTo(held.token());
				assertThat(holder.since()).isBefore(holder.until());
			}));
		assertThat(waitersOf("key")).isZero();
		held.release();
		assertThat(this.store.acquires).hasValue(1);
	}

	/**
	 * Threads that try again and again would take the processor from the holder.
	 */
	@Test
	void tryBehindLocalHolderLeavesTheProcessorToIt() {
		LockHandle held = this.registry.acquireAsync(LockRequest.of("key")).join();
		long before = pauses();
		for (int i = 0; i < 10; i++) {
			assertThat(this.registry.tryAcquire(noWait("key"))).isEmpty();
		}
		assertThat(pauses() - before).isGreaterThanOrEqualTo(10);
		held.release();
	}

	/**
	 * How often this thread has been parked.
	 */
	private static long pauses() {
		return ManagementFactory.getThreadMXBean().getThreadInfo(Thread.currentThread().getId()).getWaitedCount();
	}

	@Test
	void tryIsSentBehindAReleaseThatIsOnItsWay() throws Exception {
		CountDownLatch releasing = new CountDownLatch(1);
		this.store.beforeReleaseIsAnswered = () -> {
			releasing.countDown();
			awaitQuietly(this.storeAnswers);
		};
		CompletableFuture<Optional<LockHandle>> first = tryInOtherThread();
		releasing.await();
		LockHandle second = this.registry.acquire(noWait("key"));
		assertThat(first).as("the release is not answered yet").isNotDone();
		assertThat(second.isValid()).isTrue();
		this.storeAnswers.countDown();
		first.get();
		assertThat(isFreeInStore("key")).as("the end of the first release changes nothing").isFalse();
		second.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void leaseIsNotOfferedToExpiredRequest() {
		TurnedClock clock = new TurnedClock();
		try (LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock)) {
			LockHandle held = turned.acquireAsync(LockRequest.of("key")).join();
			CompletableFuture<LockHandle> late = inOtherThread(
					() -> turned.acquire(request("key", LEASE, Duration.ofSeconds(3))));
			Awaitility.await().until(() -> TestContexts.waiters(turned, "key") == 1);
			clock.pass(Duration.ofSeconds(4));
			held.release();
			assertThat(isFreeInStore("key")).as("right after the release").isTrue();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(late::get)
				.withCauseInstanceOf(LockBusyException.class);
			assertThat(this.store.acquires).hasValue(1);
		}
	}

	@Test
	void expiredRequestIsPassedOver() throws Exception {
		TurnedClock clock = new TurnedClock();
		try (LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock)) {
			LockHandle held = turned.acquireAsync(LockRequest.of("key")).join();
			CompletableFuture<LockHandle> late = inOtherThread(
					() -> turned.acquire(request("key", LEASE, Duration.ofSeconds(3))));
			Awaitility.await().until(() -> TestContexts.waiters(turned, "key") == 1);
			CompletableFuture<LockHandle> next = turned.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
			clock.pass(Duration.ofSeconds(4));
			held.release();
			next.get().release();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(late::get)
				.withCauseInstanceOf(LockBusyException.class);
		}
	}

	/**
	 * The interrupted request is the first by then, with the lease of its predecessor.
	 */
	@Test
	void interruptedSuccessorLeavesTheLockFree() throws Exception {
		for (int i = 0; i < 200; i++) {
			LockHandle held = this.registry.acquireAsync(LockRequest.of("key")).get();
			CompletableFuture<Void> ended = new CompletableFuture<>();
			Thread waiter = new Thread(() -> {
				try {
					this.registry.acquire(request("key", LEASE, LockRequest.FOREVER)).release();
				}
				catch (LockInterruptedException ex) {
					// as intended
				}
				ended.complete(null);
			});
			waiter.start();
			Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> waitersOf("key") == 1);
			waiter.interrupt();
			held.release();
			ended.get();
			this.registry.acquire(noWait("key")).release();
		}
	}

	@Test
	void repeatedTriesLeaveNoRevocations() throws Exception {
		AtomicInteger locks = new AtomicInteger();
		List<CompletableFuture<Void>> polling = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			polling.add(inOtherThread(() -> {
				while (locks.get() < 2000) {
					this.registry.tryAcquire(noWait("key")).ifPresent((handle) -> {
						locks.incrementAndGet();
						handle.release();
					});
				}
				return null;
			}));
		}
		for (CompletableFuture<Void> thread : polling) {
			thread.get();
		}
		this.registry.acquire(noWait("key")).release();
		assertThat(this.store.releases.get()).as("one for each lock, and none by the revoker")
			.isEqualTo(locks.get() + 1);
	}

}
