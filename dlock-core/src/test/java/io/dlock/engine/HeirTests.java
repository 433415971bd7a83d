package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LossType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Heirs that give up what was left to them, or come too late for it.
 */
class HeirTests extends AbstractHandOffTests {

	private static Acquisition asking(Duration lease) {
		return AcquisitionOfTests.of("key", new Lease.Terms(lease, true));
	}

	@Test
	void p1LeaseThatIsBeingGivenUpIsNotOfferedAgain() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		Turn sleeper = this.registry.queues().join(asking(LEASE.multipliedBy(2)), () -> {
		});
		CompletableFuture<LockHandle> third = waiter();
		first.release();
		assertThat(sleeper.predecessor()).as("it asked for another lease").isNotNull();
		// its call to the store may have given up the lease already when it gives up
		// itself
		sleeper.end();
		assertThat(third.get().token()).isGreaterThan(first.token() + 2);
		assertThat(this.store.acquires).hasValue(2);
		assertThat(this.registry.keeper().size()).isOne();
		third.get().release();
	}

	@Test
	void withdrawnOfferOfWhoGivesUpIsRevoked() {
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((HeldLock) first).hold().lease();
		Turn sleeper = this.registry.queues().join(asking(LEASE), () -> {
		});
		first.release();
		assertThat(this.registry.keeper().end(lease, new Loss(LossType.REFUSED, "the store refused its renewal")))
			.isTrue();
		sleeper.end();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	@Test
	void stoppingRegistryRevokesWhatWaitersWouldHaveGivenUp() {
		LockHandle first = this.registry.acquireAsync(request()).join();
		AtomicReference<Turn> sleeper = new AtomicReference<>();
		sleeper.set(this.registry.queues().join(asking(LEASE), () -> {
			if (!this.registry.isRunning()) {
				sleeper.get().end();
			}
		}));
		this.clock.pass(Duration.ofMillis(10));
		first.release();
		assertThat(this.store.memory.find("key")).isPresent();
		this.registry.close();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void offerIsWithdrawnWhenTheLeaseIsLostBeforeTheHeirWakesUp() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((HeldLock) first).hold().lease();
		Turn sleeper = queues.join(asking(LEASE), () -> {
		});
		first.release();
		this.clock.pass(LEASE);
		assertThat(sleeper.isFirst()).isTrue();
		assertThat(sleeper.claim()).isNull();
		assertThat(sleeper.predecessor()).as("given up with the next call to the store").isSameAs(lease);
		sleeper.end();
	}

	/**
	 * An offer is not renewed, so that the lock would be lost soon.
	 */
	@Test
	void offerThatIsTakenTooLateToBeRenewedIsGivenUp() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((HeldLock) first).hold().lease();
		Turn sleeper = queues.join(asking(LEASE), () -> {
		});
		first.release();
		this.clock.pass(LEASE.multipliedBy(9).dividedBy(10));
		assertThat(sleeper.claim()).isNull();
		assertThat(sleeper.predecessor()).isSameAs(lease);
		sleeper.end();
	}

	@Test
	void p3OfferIsWithdrawnWhenTheStoreRefusesTheRenewal() {
		LockHandle first = this.registry.acquireAsync(request()).join();
		Lease lease = ((HeldLock) first).hold().lease();
		Turn sleeper = this.registry.queues().join(asking(LEASE), () -> {
		});
		first.release();
		assertThat(this.registry.keeper().end(lease, new Loss(LossType.REFUSED, "the store refused its renewal")))
			.isTrue();
		assertThat(sleeper.claim()).isNull();
		assertThat(sleeper.predecessor()).isSameAs(lease);
		sleeper.end();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	@Test
	void heirThatGivesUpPassesTheLockOn() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		Turn sleeper = queues.join(asking(LEASE), () -> {
		});
		CompletableFuture<LockHandle> next = waiter();
		first.release();
		assertThat(next).isNotDone();
		sleeper.end();
		assertThat(next.join().token()).isEqualTo(first.token() + 2);
		assertThat(this.store.acquires).hasValue(1);
		next.join().release();
	}

	@Test
	void lastHeirThatGivesUpLeavesNothingBehind() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		Turn sleeper = queues.join(asking(LEASE), () -> {
		});
		first.release();
		assertThat(this.store.memory.find("key")).isPresent();
		sleeper.end();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
		assertThat(this.registry.keeper().size()).isZero();
	}

	@Test
	void leaseThatWasToBeGivenUpWithTheNextCallIsRevokedIfNobodyCalls() {
		LocalQueues queues = this.registry.queues();
		LockHandle first = this.registry.acquireAsync(request()).join();
		Turn sleeper = queues.join(asking(LEASE), () -> {
		});
		this.clock.pass(Duration.ofMillis(10));
		first.release();
		assertThat(this.registry.keeper().size()).as("it is not renewed any more").isZero();
		assertThat(sleeper.predecessor()).isNotNull();
		sleeper.end();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	@Test
	void interruptedHeirPassesTheLockOn() throws Exception {
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
		Awaitility.await().until(() -> this.registry.queues().waiters("key") == 1);
		CompletableFuture<LockHandle> next = waiter();
		thread.interrupt();
		assertThat(interrupted.get()).isInstanceOf(LockInterruptedException.class);
		first.release();
		next.get().release();
	}

	@Test
	void cancelledHeirPassesTheLockOn() throws Exception {
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
	void leaseBeforeIsGivenUpEvenIfTheNextFails() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		this.clock.pass(Duration.ofMillis(10));
		this.store.misconfigured = true;
		first.release();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(second::get)
			.withMessageContaining("no such table");
		this.store.misconfigured = false;
		Awaitility.await().until(() -> {
			// the pause after a release that failed, too
			this.clock.pass(Duration.ofMillis(10));
			return this.store.memory.find("key").isEmpty();
		});
	}

}
