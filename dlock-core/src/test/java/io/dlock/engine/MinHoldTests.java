package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.ReleaseMode;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.store.AcquireResult;
import io.dlock.store.StoreException;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The shortest time of a lock.
 */
class MinHoldTests extends AbstractLeaseLockRegistryTests {

	MinHoldTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

	private static final Duration MIN_HOLD = Duration.ofMillis(400);

	private static final Duration LONG = Duration.ofMinutes(5);

	private final TurnedClock clock = new TurnedClock();

	/** Does not end a lock by itself before a test turns the clock. */
	private final TroubledStore stopped = new TroubledStore(new MemoryLockStore(this.clock::nanoTime));

	private LeaseLockRegistry turned() {
		return new LeaseLockRegistry(this.stopped, this.settings, this.clock);
	}

	private static LockRequestBuilder minHold(Duration minHold) {
		return LockRequest.builder("key").lease(LEASE).waitTime(Duration.ZERO).minHold(minHold);
	}

	private Duration leftInStore() {
		return this.store.memory.find("key")
			.map((lock) -> Duration.between(Instant.now(), lock.until()))
			.orElse(Duration.ZERO);
	}

	@Test
	void releaseReturnsAtOnceAndTheLockStaysTaken() {
		CountDownLatch looked = new CountDownLatch(1);
		this.stopped.beforeRelease = () -> awaitQuietly(looked);
		try (LeaseLockRegistry turned = turned()) {
			long start = System.nanoTime();
			LockHandle handle = turned.acquire(minHold(MIN_HOLD).build());
			handle.release();
			assertThat(handle.isValid()).isFalse();
			assertThat(this.stopped.memory.find("key")).isPresent();
			assertThat(this.stopped.keepsAsked).hasValue(1);
			assertThat(turned.renewer().size()).as("not renewed").isZero();
			assertThat(turned.queues().size()).isZero();
			looked.countDown();
			Awaitility.await().until(() -> this.stopped.memory.find("key").isEmpty());
			assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(MIN_HOLD.toNanos());
			assertThat(this.stopped.releases).as("passed on").hasValue(1);
		}
	}

	/**
	 * The process that came first polls rarely, because the store signals to it.
	 */
	@Test
	void waitingProcessesAreSignalledInOrder() throws Exception {
		PatientStore firstStore = new PatientStore(this.stopped, "9000");
		PatientStore secondStore = new PatientStore(this.stopped, "9000");
		try (LeaseLockRegistry turned = turned();
				LeaseLockRegistry first = rarelyLooking(firstStore);
				LeaseLockRegistry second = rarelyLooking(secondStore)) {
			LockHandle handle = turned.acquire(minHold(MIN_HOLD).build());
			CompletableFuture<LockHandle> firstLock = first.acquireAsync(request("key", LEASE, LEASE));
			Awaitility.await().until(() -> firstStore.queued().size() == 1);
			CompletableFuture<LockHandle> secondLock = second.acquireAsync(request("key", LEASE, LEASE));
			Awaitility.await().until(() -> secondStore.queued().size() == 1);
			handle.release();
			LockHandle held = firstLock.get();
			assertThat(this.stopped.releases).as("ended by the process").hasValue(1);
			assertThat(secondLock).isNotDone();
			held.release();
			secondLock.get().release();
		}
	}

	private LeaseLockRegistry rarelyLooking(PatientStore patient) {
		return new LeaseLockRegistry(patient, this.settings.toBuilder().maxPollInterval(Duration.ofSeconds(1)).build());
	}

	@Test
	void keptLockEndsByItselfIfItsReleaseFails() {
		this.stopped.beforeRelease = () -> {
			throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
		};
		try (LeaseLockRegistry turned = turned()) {
			turned.acquire(minHold(MIN_HOLD).build()).release();
			Awaitility.await().until(() -> this.stopped.releases.get() == 1);
			assertThat(this.stopped.memory.find("key")).isPresent();
			this.clock.pass(MIN_HOLD.plusSeconds(1));
			assertThat(this.stopped.memory.find("key")).isEmpty();
			assertThat(this.stopped.releases).hasValue(1);
		}
	}

	@Test
	void keptLockIsShownWithoutAHolder() {
		this.registry.acquire(minHold(LONG).reason("a report").build()).release();
		LockInfo kept = this.registry.console().find("key").orElseThrow();
		assertThat(kept.kept()).isTrue();
		assertThat(kept.reason()).isEqualTo("a report");
		assertThat(kept.toString()).contains("kept after its release by");
		assertThat(this.registry.console().list(10).locks()).singleElement()
			.satisfies((lock) -> assertThat(lock.kept()).isTrue());
		assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> this.registry.acquire(minHold(LONG).build()))
			.withMessageNotContaining("held by");
	}

	@Test
	void lockIsReleasedInTimeOnStoreWithoutKeep() {
		this.store.keeps = false;
		this.registry.acquire(minHold(MIN_HOLD).build()).release();
		assertThat(this.store.renewals).as("the lease is long enough").hasValue(0);
		Awaitility.await().until(() -> isFreeInStore("key"));
		assertThat(this.store.releases).hasPositiveValue();
	}

	@Test
	void leaseIsExtendedForMinHoldOnStoreWithoutKeep() {
		this.store.keeps = false;
		this.registry.acquire(minHold(LONG).build()).release();
		assertThat(leftInStore()).isBetween(LONG.minusSeconds(30), LONG.plusSeconds(1));
		assertThat(this.store.renewals).hasValue(1);
	}

	@Test
	void localRequestsDoNotGetTheLockBeforeMinHold() throws Exception {
		long start = System.nanoTime();
		LockHandle handle = this.registry.acquire(minHold(MIN_HOLD).build());
		CompletableFuture<LockHandle> waiter = this.registry.acquireAsync(request("key", LEASE, LEASE));
		Awaitility.await().until(() -> waitersOf("key") == 1);
		handle.release();
		LockHandle next = waiter.get();
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(MIN_HOLD.toNanos());
		assertThat(next.token()).as("granted by the store").isGreaterThan(handle.token() + Lease.TOKENS_PER_LEASE - 1);
		next.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void localRequestsDoNotGetTheLockAfterAsynchronousRelease() {
		LockHandle handle = this.registry.acquire(minHold(LONG).build());
		CompletableFuture<LockHandle> waiter = this.registry.acquireAsync(request("key", LEASE, LEASE));
		Awaitility.await().until(() -> waitersOf("key") == 1);
		handle.releaseAsync().join();
		Awaitility.await().until(() -> this.store.acquires.get() > 1);
		assertThat(waiter).isNotDone();
		waiter.cancel(false);
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

	@Test
	void releaseAfterMinHoldFreesTheLock() throws Exception {
		LockHandle handle = this.registry.acquire(minHold(Duration.ofMillis(1)).build());
		CompletableFuture<LockHandle> waiter = this.registry
			.acquireAsync(minHold(Duration.ofMillis(1)).waitTime(LEASE).build());
		Awaitility.await().until(() -> waitersOf("key") == 1);
		handle.release();
		LockHandle next = waiter.get();
		next.release();
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void leaseIsExtendedForMinHold() {
		this.registry.acquire(minHold(LONG).build()).release();
		assertThat(leftInStore()).isBetween(LONG.minusSeconds(30), LONG.plusSeconds(1));
		assertThat(this.store.keepsAsked).hasValue(1);
	}

	@Test
	void unansweredKeepIsRepeated() {
		LockHandle handle = this.registry.acquire(minHold(LONG).build());
		this.store.down = true;
		handle.release();
		Awaitility.await().until(() -> this.store.keepsAsked.get() >= 2);
		assertThat(leftInStore()).isLessThan(LEASE.plusSeconds(1));
		this.store.down = false;
		Awaitility.await().until(() -> leftInStore().compareTo(LEASE.plusSeconds(1)) > 0);
	}

	@Test
	void lockThatIsKeptWithoutAnAnswerIsEndedInTime() {
		try (LeaseLockRegistry turned = turned()) {
			for (Duration passed : List.of(Duration.ZERO, MIN_HOLD)) {
				CountDownLatch looked = new CountDownLatch(1);
				this.stopped.beforeRelease = () -> awaitQuietly(looked);
				this.stopped.lostKeepReplies.set(1);
				turned.acquire(minHold(MIN_HOLD).build()).release();
				assertThat(this.stopped.memory.find("key").orElseThrow().kept()).isTrue();
				this.clock.pass(passed);
				looked.countDown();
				Awaitility.await().until(() -> this.stopped.memory.find("key").isEmpty());
			}
		}
	}

	/**
	 * The wall clock makes a lease end earlier, which is safe. A {@code minHold} that
	 * ends earlier is not.
	 */
	@Test
	void r3WallClockThatIsSetForwardEndsNoMinHold() {
		try (LeaseLockRegistry turned = turned()) {
			LockHandle handle = turned.acquire(minHold(LEASE.dividedBy(2)).build());
			this.clock.stepWall(LEASE.multipliedBy(2).dividedBy(3));
			assertThat(turned.console().local().held()).singleElement()
				.satisfies((lock) -> assertThat(lock.age()).isZero());
			handle.release();
			assertThat(this.stopped.memory.find("key")).hasValueSatisfying((lock) -> assertThat(lock.kept()).isTrue());
			this.clock.pass(LEASE);
		}
	}

	@Test
	void r50InterruptedThreadKeepsTheLock() {
		LockHandle handle = this.registry.acquire(minHold(LONG).build());
		this.store.beforeKeep = () -> assertThat(Thread.currentThread().isInterrupted()).isFalse();
		Thread.currentThread().interrupt();
		handle.release();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(leftInStore()).isGreaterThan(LEASE);
		assertThat(this.store.keepsAsked).hasValue(1);
	}

	@Test
	void failedReleaseAfterMinHoldIsRepeated() {
		this.store.keeps = false;
		LockHandle handle = this.registry.acquire(minHold(MIN_HOLD).build());
		this.store.down = true;
		handle.release();
		Awaitility.await().until(() -> this.store.releases.get() >= 2);
		this.store.down = false;
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void lockOfClosedRegistryEndsWithItsLease() {
		LeaseLockRegistry closing = new LeaseLockRegistry(this.store, this.settings);
		closing.acquire(minHold(LONG).build()).release();
		closing.close();
		assertThat(leftInStore()).isGreaterThan(LEASE);
		assertThat(this.store.releases).hasValue(0);
	}

	@Test
	void r51LockTakenAwayByShutdownIsKept() {
		LeaseLockRegistry closing = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(COMMAND_TIMEOUT).build());
		LockHandle handle = closing.acquire(minHold(LONG).build());
		closing.close();
		assertThat(leftInStore()).isGreaterThan(LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(leftInStore()).isGreaterThan(LEASE);
	}

	@Test
	void lostLockIsKeptIfTheStoreStillHasIt() {
		try (LeaseLockRegistry turned = turned()) {
			this.stopped.renewalsFail = true;
			LockHandle handle = turned.acquire(minHold(LONG).build());
			this.clock.pass(LEASE.dividedBy(2));
			AbstractHandOffTests.awaitCheckOfLeases(turned);
			assertThat(this.stopped.renewals).hasValue(1);
			this.clock.pass(LEASE.dividedBy(2));
			assertThat(handle.isValid()).isFalse();
			this.stopped.renewalsFail = false;
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
			assertThat(this.stopped.memory.find("key")).hasValueSatisfying((lock) -> assertThat(lock.kept()).isTrue());
			this.clock.pass(LONG.minus(LEASE));
			assertThat(this.stopped.memory.find("key")).as("for the rest of its time").isPresent();
			this.clock.pass(Duration.ofSeconds(1));
			assertThat(this.stopped.memory.find("key")).isEmpty();
		}
	}

	@Test
	void lostLockWithAnotherOwnerIsNotTouched() {
		LockHandle handle = this.registry.acquire(minHold(LONG).build());
		this.store.memory.clear();
		LeaseInternals.expire(((LeaseLockHandle) handle).hold().lease());
		holdElsewhere("key", LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(this.store.memory.find("key").orElseThrow().holder()).isEqualTo("another instance");
		assertThat(leftInStore()).isLessThan(LEASE.plusSeconds(1));
	}

	@Test
	void lockGrantedToClosingRegistryIsFree() {
		this.store.afterAcquire = this.registry::close;
		assertThatExceptionOfType(LockRegistryClosedException.class)
			.isThrownBy(() -> this.registry.acquire(minHold(LONG).build()));
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void lockGrantedToCancelledRequestIsFree() throws Exception {
		CompletableFuture<CompletableFuture<LockHandle>> future = new CompletableFuture<>();
		this.store.afterAcquire = () -> future.join().cancel(false);
		future.complete(this.registry.acquireAsync(minHold(LONG).waitTime(LEASE).build()));
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> future.get().get())
			.isNotInstanceOf(ExecutionException.class);
		Awaitility.await().until(() -> this.store.acquires.get() == 1 && isFreeInStore("key"));
	}

	@Test
	void asynchronousReleaseKeepsTheLock() {
		LeaseLockRegistry async = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().releaseMode(ReleaseMode.ASYNC).build());
		this.store.sendsReleases = true;
		async.acquire(minHold(LONG).build()).release();
		assertThat(leftInStore()).isGreaterThan(LEASE);
		assertThat(this.store.releasesSent).hasValue(0);
		async.close();
	}

	/**
	 * A request of this owner that is still on its way would take the lock again.
	 */
	@Test
	void r25UnansweredRequestIsRevokedAfterMinHold() {
		this.store.stuckAcquires.set(1);
		LockHandle handle = this.registry.acquire(minHold(MIN_HOLD).waitTime(LEASE).build());
		handle.release();
		Awaitility.await().until(() -> isFreeInStore("key"));
		assertThat(this.store.memory.acquire(this.store.stuck.remove())).as("arrived late")
			.isInstanceOf(AcquireResult.Granted.class);
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	/**
	 * The release that ends the lock finds it, and proves nothing of the other request.
	 */
	@Test
	void r25UnansweredRequestIsRevokedAfterMinHoldOnStoreWithoutKeep() {
		this.store.keeps = false;
		r25UnansweredRequestIsRevokedAfterMinHold();
	}

}
