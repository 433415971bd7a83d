package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LossType;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.QueuedRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Successors that give up the lease that was left to them, or come too late for it.
 */
class SuccessorTests extends AbstractHandOffTests {

	private static AcquireContext asking(Duration lease) {
		return TestContexts.of("key", new LeaseTerms(lease, true));
	}

	@Test
	void p1LeaseBeingGivenUpIsNotOfferedAgain() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		QueuedRequest sleeper = this.registry.queues().join(asking(LEASE.multipliedBy(2)), () -> {
		});
		CompletableFuture<LockHandle> third = waiter();
		first.release();
		assertThat(sleeper.predecessor()).as("it asked for another lease").isNotNull();
		// its call to the store may have given up the lease already when it gives up
		// itself
		this.registry.queues().leave(sleeper);
		assertThat(third.get().token()).isGreaterThan(first.token() + 2);
		assertThat(this.store.acquires).hasValue(2);
		assertThat(this.registry.renewer().size()).isOne();
		third.get().release();
	}

	@Test
	void withdrawnOfferOfLeavingRequestIsRevoked() {
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((LeaseLockHandle) first).hold().lease();
		QueuedRequest sleeper = this.registry.queues().join(asking(LEASE), () -> {
		});
		first.release();
		assertThat(this.registry.renewer().lose(lease, new Loss(LossType.REFUSED, "the store refused its renewal")))
			.isTrue();
		this.registry.queues().leave(sleeper);
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty() && this.registry.queues().size() == 0);
	}

	@Test
	void stoppingRegistryRevokesLeasesLeftToWaiters() {
		LeaseLockRegistry stopping = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(LEASE.dividedBy(4)).build(), this.clock);
		LockHandle first = stopping.acquireAsync(request()).join();
		AtomicReference<QueuedRequest> sleeper = new AtomicReference<>();
		sleeper.set(stopping.queues().join(asking(LEASE), () -> {
			if (!stopping.isRunning()) {
				stopping.queues().leave(sleeper.get());
			}
		}));
		this.clock.pass(Duration.ofMillis(10));
		first.release();
		assertThat(this.store.memory.find("key")).isPresent();
		this.store.beforeRelease = () -> LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
		stopping.close();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void offerIsWithdrawnWhenTheLeaseIsLostBeforeTheClaim() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((LeaseLockHandle) first).hold().lease();
		QueuedRequest sleeper = queues.join(asking(LEASE), () -> {
		});
		first.release();
		this.clock.pass(LEASE);
		assertThat(sleeper.isFirst()).isTrue();
		assertThat(this.registry.queues().claim(sleeper)).isNull();
		assertThat(sleeper.predecessor()).as("given up with the next call to the store").isSameAs(lease);
		this.registry.queues().leave(sleeper);
		Awaitility.await().until(() -> queues.size() == 0);
	}

	/**
	 * An offer is not renewed, so that the lock would be lost soon.
	 */
	@Test
	void offerClaimedTooLateForRenewalIsGivenUp() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((LeaseLockHandle) first).hold().lease();
		QueuedRequest sleeper = queues.join(asking(LEASE), () -> {
		});
		first.release();
		this.clock.pass(LEASE.multipliedBy(9).dividedBy(10));
		assertThat(this.registry.queues().claim(sleeper)).isNull();
		assertThat(this.registry.renewer().size()).as("it is not watched any more").isZero();
		assertThat(queues.latestAnswer(sleeper)).as("the former holder is gone").isNull();
		assertThat(sleeper.predecessor()).isSameAs(lease);
		this.registry.queues().leave(sleeper);
		Awaitility.await().until(() -> queues.size() == 0 && this.store.memory.find("key").isEmpty());
	}

	@Test
	void p3OfferIsWithdrawnWhenTheStoreRefusesTheRenewal() {
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((LeaseLockHandle) first).hold().lease();
		QueuedRequest sleeper = this.registry.queues().join(asking(LEASE), () -> {
		});
		first.release();
		assertThat(this.registry.renewer().lose(lease, new Loss(LossType.REFUSED, "the store refused its renewal")))
			.isTrue();
		assertThat(this.registry.queues().claim(sleeper)).isNull();
		assertThat(sleeper.predecessor()).isSameAs(lease);
		this.registry.queues().leave(sleeper);
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty() && this.registry.queues().size() == 0);
	}

	@Test
	void leavingSuccessorPassesTheLockOn() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		QueuedRequest sleeper = queues.join(asking(LEASE), () -> {
		});
		CompletableFuture<LockHandle> next = waiter();
		first.release();
		assertThat(next).isNotDone();
		this.registry.queues().leave(sleeper);
		assertThat(next.join().token()).isEqualTo(first.token() + 2);
		assertThat(this.store.acquires).hasValue(1);
		next.join().release();
	}

	@Test
	void lastLeavingSuccessorLeavesNothingBehind() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		QueuedRequest sleeper = queues.join(asking(LEASE), () -> {
		});
		first.release();
		assertThat(this.store.memory.find("key")).isPresent();
		this.registry.queues().leave(sleeper);
		Awaitility.await().until(() -> queues.size() == 0 && this.store.memory.find("key").isEmpty());
		assertThat(this.registry.renewer().size()).isZero();
	}

	/**
	 * The answer of the former holder is out of date: the lock is on its way back.
	 */
	@Test
	void tryDuringTheReturnOfALeaseGetsTheLock() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).join();
		QueuedRequest sleeper = this.registry.queues().join(asking(LEASE), () -> {
		});
		CountDownLatch returning = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		this.store.beforeRelease = () -> {
			returning.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(answered);
		};
		first.release();
		this.registry.queues().leave(sleeper);
		returning.await();
		CompletableFuture<LockHandle> tried = CompletableFuture
			.supplyAsync(() -> this.registry.acquire(AbstractLeaseLockRegistryTests.noWait("key")));
		Awaitility.await().until(() -> tried.isDone() || this.registry.counts().waiting() == 2);
		answered.countDown();
		tried.get().release();
	}

	@Test
	void leaseLeftForTheNextCallIsRevokedWithoutThatCall() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		QueuedRequest sleeper = queues.join(asking(LEASE), () -> {
		});
		this.clock.pass(Duration.ofMillis(10));
		first.release();
		assertThat(this.registry.renewer().size()).as("it is not renewed any more").isZero();
		assertThat(sleeper.predecessor()).isNotNull();
		this.registry.queues().leave(sleeper);
		Awaitility.await().until(() -> queues.size() == 0 && this.store.memory.find("key").isEmpty());
	}

	@Test
	void interruptedSuccessorPassesTheLockOn() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<Throwable> interrupted = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				this.registry.acquire(request()).release();
				interrupted.complete(null);
			}
			catch (LockInterruptedException ex) {
				interrupted.complete(ex);
			}
		});
		thread.start();
		Awaitility.await().until(() -> TestContexts.waiters(this.registry, "key") == 1);
		CompletableFuture<LockHandle> next = waiter();
		thread.interrupt();
		assertThat(interrupted.get()).isInstanceOf(LockInterruptedException.class);
		first.release();
		next.get().release();
	}

	@Test
	void cancelledSuccessorPassesTheLockOn() throws Exception {
		for (int i = 0; i < 200; i++) {
			LockHandle first = this.registry.acquireAsync(request()).get();
			CompletableFuture<LockHandle> cancelled = waiter();
			CompletableFuture<LockHandle> next = waiter();
			CompletableFuture<Void> cancelling = CompletableFuture.runAsync(() -> cancelled.cancel(true));
			first.release();
			cancelling.get();
			if (!cancelled.isCancelled()) {
				cancelled.get().release();
			}
			next.get().release();
		}
	}

	@Test
	void predecessorLeaseIsGivenUpEvenIfTheNextRequestFails() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		this.clock.pass(Duration.ofMillis(10));
		this.store.misconfigured = true;
		first.release();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(second::get)
			.withMessageContaining("no such table");
		this.store.misconfigured = false;
		long begin = this.clock.nanoTime();
		Awaitility.await().until(() -> {
			// the pause after a release that failed, too
			this.clock.pass(Duration.ofMillis(10));
			return this.store.memory.find("key").isEmpty();
		});
		assertThat(Duration.ofNanos(this.clock.nanoTime() - begin)).as("before its lease ends")
			.isLessThan(LEASE.minusSeconds(1));
	}

}
