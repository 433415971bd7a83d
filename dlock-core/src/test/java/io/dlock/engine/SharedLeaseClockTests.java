package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.console.LockCount;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.test.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Shared leases on a clock that a test turns, which stands for a process that is stopped.
 */
class SharedLeaseClockTests extends AbstractHandOffTests {

	private LockRequestBuilder shared() {
		return LockRequest.builder("key").mode(LockMode.SHARED);
	}

	private LockHandle reader(LockRequest request) {
		return this.registry.acquireAsync(request).join();
	}

	@Test
	void readerThatWasStoppedBeyondItsLeaseHasLostTheLock() {
		LockHandle one = reader(shared().build());
		LockHandle two = reader(shared().build());
		this.clock.pass(LEASE);
		assertThat(one.isValid()).isFalse();
		assertThat(two.isValid()).isFalse();
		LockHandle writer = reader(request());
		assertThat(writer.isValid()).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(one::release);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::release);
		assertThat(writer.isValid()).as("the lock of the next holder").isTrue();
		assertThat(this.store.memory.find("key")).isPresent();
		writer.release();
	}

	@Test
	void leaseIsNotJoinedWhenHardlyAnythingIsLeft() {
		LockHandle one = reader(shared().renew(false).build());
		this.clock.pass(LEASE.dividedBy(2));
		LockHandle two = reader(shared().renew(false).build());
		assertThat(two.token()).isGreaterThan(one.token());
		assertThat(two.remaining()).isGreaterThan(LEASE.multipliedBy(9).dividedBy(10));
		one.release();
		two.release();
	}

	@Test
	void leaseIsNotJoinedOnceAWriterIsKnownToWait() {
		LockHandle one = reader(shared().build());
		this.store.memory.acquire(new AcquireCommand("key", "elsewhere", LEASE, "another instance", "",
				MailboxAddress.create(Duration.ofMillis(50)), true, null));
		LockRequest request = shared().waitTime(Duration.ZERO).build();
		assertThat(this.registry.tryAcquire(request)).as("the store has just been asked")
			.hasValueSatisfying(LockHandle::release);
		this.clock.pass(Duration.ofMillis(20));
		assertThat(this.registry.tryAcquire(request)).isEmpty();
		assertThat(this.registry.tryAcquire(request)).isEmpty();
		one.release();
		this.clock.pass(LEASE);
	}

	@Test
	void readerWhoseCallEndsWithAnErrorLeavesTheLease() {
		LockHandle one = reader(shared().build());
		this.clock.pass(Duration.ofMillis(20));
		this.store.beforeAcquire = () -> {
			throw new NoClassDefFoundError("a store with a bug");
		};
		assertThatExceptionOfType(NoClassDefFoundError.class)
			.isThrownBy(() -> this.registry.tryAcquire(shared().build()));
		this.store.beforeAcquire = () -> {
		};
		one.release();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void storeThatDoesNotAnswerIsAskedOnceInATime() {
		LockHandle one = reader(shared().build());
		this.clock.pass(Duration.ofMillis(20));
		this.store.down = true;
		LockHandle two = reader(shared().build());
		LockHandle three = reader(shared().build());
		assertThat(this.store.acquires).hasValue(2);
		this.store.down = false;
		assertThat(three.token()).isEqualTo(one.token());
		one.release();
		two.release();
		three.release();
	}

	@Test
	void newLeaseIsJoinedAlthoughAWriterOfItsProcessWaits() {
		LockHandle one = reader(shared().build());
		CompletableFuture<LockHandle> writer = waitingWriter();
		LockRequest request = shared().waitTime(Duration.ZERO).build();
		LockHandle two = this.registry.tryAcquire(request).orElseThrow();
		assertThat(two.token()).isEqualTo(one.token());
		two.release();
		this.clock.pass(Duration.ofMillis(20));
		assertThat(this.registry.tryAcquire(request)).isEmpty();
		one.release();
		writer.join().release();
	}

	private CompletableFuture<LockHandle> waitingWriter() {
		CompletableFuture<LockHandle> writer = this.registry.acquireAsync(request());
		Awaitility.await().until(() -> this.registry.queues().waiting().size() == 1);
		return writer;
	}

	@Test
	void leaseThatIsNotNewIsNotJoinedPastAWriterOfItsProcess() {
		LockHandle one = reader(shared().build());
		this.clock.pass(Duration.ofMillis(20));
		reader(shared().build()).release();
		assertThat(this.store.acquires).as("the store has just been asked").hasValue(2);
		CompletableFuture<LockHandle> writer = waitingWriter();
		assertThat(this.registry.tryAcquire(shared().waitTime(Duration.ZERO).build())).isEmpty();
		one.release();
		writer.join().release();
	}

	@Test
	void newLeaseIsJoinedAlthoughAWriterOfAnotherProcessHasWaitedForIt() {
		LockHandle writer = reader(request());
		this.store.memory.acquire(new AcquireCommand("key", "elsewhere", LEASE, "another instance", "",
				MailboxAddress.create(Duration.ofMillis(50)), true, null));
		LockHandle one = writer.downgrade();
		int before = this.store.acquires.get();
		LockRequest request = shared().waitTime(Duration.ZERO).build();
		assertThat(this.registry.tryAcquire(request)).hasValueSatisfying(LockHandle::release);
		assertThat(this.store.acquires).hasValue(before);
		this.clock.pass(Duration.ofMillis(20));
		assertThat(this.registry.tryAcquire(request)).isEmpty();
		one.release();
		this.clock.pass(LEASE);
	}

	@Test
	void downgradeIsALossIfTheAnswerComesAfterTheLease() {
		LockHandle writer = reader(LockRequest.builder("key").renew(false).build());
		this.clock.pass(LEASE.multipliedBy(7).dividedBy(10));
		this.store.afterAcquire = () -> this.clock.pass(LEASE.multipliedBy(4).dividedBy(10));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void lockWhoseMaxHoldIsOverIsReleasedAndNotDowngraded() {
		LockHandle writer = reader(
				LockRequest.builder("key").lease(Duration.ofSeconds(5)).maxHold(Duration.ofSeconds(6)).build());
		this.clock.pass(Duration.ofSeconds(3));
		lookAfterLeases(this.registry);
		Awaitility.await().until(() -> writer.remaining().toMillis() > 2500);
		this.clock.pass(Duration.ofMillis(3100));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade);
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	/**
	 * The question whether a writer waits has begun the lease anew.
	 */
	@Test
	void r25ReleaseThatFailsIsRepeatedForALeaseAfterTheLastQuestion() {
		LockHandle one = reader(shared().build());
		this.clock.pass(LEASE.dividedBy(2));
		LockHandle two = reader(shared().build());
		assertThat(two.token()).as("the readers share a lease").isEqualTo(one.token());
		AtomicInteger attempts = new AtomicInteger();
		this.store.beforeRelease = () -> {
			attempts.incrementAndGet();
			throw new NoClassDefFoundError("a store with a bug");
		};
		one.release();
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(two::release);
		this.clock.pass(LEASE.multipliedBy(6).dividedBy(10));
		int before = attempts.get();
		Awaitility.await().until(() -> {
			this.clock.pass(Duration.ofMillis(10));
			return attempts.get() > before + 1;
		});
		this.store.beforeRelease = () -> {
		};
		Awaitility.await().until(() -> {
			this.clock.pass(Duration.ofMillis(10));
			return this.store.memory.find("key").isEmpty();
		});
	}

	@Test
	void lockWhoseMaxHoldEndsDuringItsDowngradeIsReleased() {
		LockHandle writer = reader(LockRequest.builder("key").maxHold(LEASE).build());
		this.clock.pass(LEASE.dividedBy(2));
		writer.renewNow();
		this.clock.onReading = () -> {
			if (StackWalker.getInstance()
				.walk((frames) -> frames.anyMatch((frame) -> frame.getMethodName().equals("beginRelease")))) {
				this.clock.onReading = () -> {
				};
				this.clock.pass(LEASE.dividedBy(2));
			}
		};
		assertThatExceptionOfType(LockLostException.class).isThrownBy(writer::downgrade)
			.withMessageContaining("maxHold");
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	/**
	 * The reader whose {@code maxHold} is over has lost the lock, and the other keeps it.
	 */
	private void outlive(LockHandle limited, LockHandle lasting) {
		this.clock.pass(LEASE.dividedBy(2));
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return lasting.remaining().compareTo(LEASE.multipliedBy(9).dividedBy(10)) > 0;
		});
		this.clock.pass(LEASE.dividedBy(2));
		assertThat(limited.isValid()).isFalse();
		assertThat(lasting.isValid()).isTrue();
	}

	@Test
	void listenerThatComesAfterTheLossOfOneReaderIsTold() throws Exception {
		LockHandle lasting = reader(shared().build());
		LockHandle limited = reader(shared().maxHold(LEASE).build());
		assertThat(limited.token()).as("the readers share a lease").isEqualTo(lasting.token());
		outlive(limited, lasting);
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		limited.onLost(told::complete);
		assertThat(told.get()).isSameAs(limited);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(limited::release);
		lasting.release();
	}

	@Test
	void readerThatHasLostTheLockIsNotCounted() {
		LockHandle lasting = reader(shared().name("a").build());
		LockHandle limited = reader(shared().name("b").maxHold(LEASE).build());
		assertThat(this.registry.counts().held()).isEqualTo(2);
		outlive(limited, lasting);
		assertThat(this.registry.counts().held()).isOne();
		assertThat(this.registry.counts().byName()).extracting(LockCount::name).containsExactly("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(limited::release);
		lasting.release();
	}

	@Test
	void lossOfEachReaderIsLogged() {
		try (CapturedLog log = CapturedLog.of(LeaseLifecycle.class)) {
			LockHandle lasting = reader(shared().build());
			LockHandle one = reader(shared().maxHold(LEASE).build());
			LockHandle two = reader(shared().maxHold(LEASE).build());
			outlive(one, lasting);
			assertThat(two.isValid()).isFalse();
			// the timer may have found the loss, and not be done with it
			Awaitility.await().untilAsserted(() -> assertThat(log.events()).hasSize(2));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(one::release);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(two::release);
			lasting.release();
		}
	}

	@Test
	void readerHoldsTheLockSinceItCame() {
		LockHandle one = reader(shared().name("a").build());
		this.clock.pass(LEASE.dividedBy(2));
		LockHandle two = reader(shared().name("b").build());
		assertThat(two.token()).as("the readers share a lease").isEqualTo(one.token());
		assertThat(this.registry.counts().byName()).extracting(LockCount::name, LockCount::longestHold)
			.containsExactlyInAnyOrder(tuple("b", Duration.ZERO), tuple("a", LEASE.dividedBy(2)));
		one.release();
		two.release();
	}

	@Test
	void readerThatCannotBeginLeavesTheLease() {
		LockHandle one = reader(shared().build());
		this.clock.onReading = () -> {
			if (StackWalker.getInstance()
				.walk((frames) -> frames.anyMatch((frame) -> frame.getClassName().endsWith(".HoldDetails")))) {
				throw new OutOfMemoryError("of the test");
			}
		};
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> reader(shared().build()));
		this.clock.onReading = () -> {
		};
		one.release();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void lockWhoseMinHoldIsOverCanBeDowngraded() {
		LockHandle writer = reader(LockRequest.builder("key").minHold(Duration.ofSeconds(2)).build());
		assertThatIllegalStateException().isThrownBy(writer::downgrade).withMessageContaining("minHold");
		this.clock.pass(Duration.ofSeconds(2));
		LockHandle reader = writer.downgrade();
		assertThat(reader.mode()).isEqualTo(LockMode.SHARED);
		reader.release();
	}

	@Test
	void storeIsAskedOnceInATime() {
		LockHandle one = reader(shared().build());
		reader(shared().build()).release();
		assertThat(this.store.acquires).hasValue(1);
		this.clock.pass(Duration.ofMillis(20));
		reader(shared().build()).release();
		reader(shared().build()).release();
		assertThat(this.store.acquires).hasValue(2);
		one.release();
	}

}
