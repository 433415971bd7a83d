package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.lease.Revoker;
import io.dlock.engine.lease.StoreReleaser;
import io.dlock.engine.lease.UnansweredRequests;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the number of calls to the store, on a clock that a test turns.
 */
class RevokerTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private final TurnedClock clock = new TurnedClock();

	private final TroubledStore store = new TroubledStore(new MemoryLockStore(this.clock::nanoTime));

	private final Revoker revoker = LeaseInternals.revoker(this.store, this.clock, this::schedule, Runnable::run,
			TIMEOUT);

	private @Nullable Runnable scheduled;

	private long scheduledAt;

	private @Nullable Future<?> schedule(Runnable task, long delayNanos) {
		this.scheduled = task;
		this.scheduledAt = this.clock.nanoTime() + delayNanos;
		return null;
	}

	/**
	 * Let time pass, and run the due rounds meanwhile.
	 * @return the number of calls to the store
	 */
	private int pass(Duration time) {
		int before = this.store.releases.get();
		long end = this.clock.nanoTime() + time.toNanos();
		while (this.scheduled != null && this.scheduledAt - end <= 0) {
			Runnable task = this.scheduled;
			this.scheduled = null;
			this.clock.pass(Duration.ofNanos(Math.max(0, this.scheduledAt - this.clock.nanoTime())));
			task.run();
		}
		this.clock.pass(Duration.ofNanos(end - this.clock.nanoTime()));
		return this.store.releases.get() - before;
	}

	private AcquireCommand request(String key) {
		return new AcquireCommand(key, "owner of " + key, HOUR, "test", "");
	}

	private void revoke(String key, int requests) {
		this.revoker.revoke(key, "owner of " + key, new UnansweredRequests(requests, this.clock.now()), HOUR);
	}

	private boolean isFree(String key) {
		return this.store.memory.find(key).isEmpty();
	}

	/**
	 * There were 5,200 to 8,000 calls a second for an hour.
	 */
	@Test
	void revocationsThatFindNothingCostTenCallsASecond() {
		int many = 2000;
		for (int i = 0; i < many; i++) {
			revoke("key-" + i, 1);
		}
		assertThat(pass(Duration.ofMillis(100))).as("at once").isEqualTo(many);
		for (int minute = 0; minute < 60; minute++) {
			assertThat(pass(Duration.ofMinutes(1))).isLessThanOrEqualTo(601);
		}
		pass(Duration.ofMinutes(1));
		assertThat(this.revoker.size()).isZero();
		assertThat(pass(HOUR)).isZero();
	}

	@Test
	void r25RevocationIsRepeatedLessOftenUntilItsLeaseIsOver() {
		revoke("key", 1);
		assertThat(pass(Duration.ofMillis(10))).isOne();
		assertThat(pass(Duration.ofSeconds(10))).isBetween(8, 20);
		assertThat(pass(Duration.ofMinutes(10))).isBetween(10, 25);
		assertThat(pass(Duration.ofMinutes(48))).isBetween(4, 10);
		assertThat(this.revoker.size()).isOne();
		assertThat(pass(Duration.ofMinutes(2))).isLessThanOrEqualTo(1);
		assertThat(this.revoker.size()).isZero();
	}

	@Test
	void r25LateRequestIsUndoneWithinAQuarterOfItsDelay() {
		revoke("key", 2);
		pass(Duration.ofMinutes(4));
		this.store.memory.acquire(request("key"));
		pass(Duration.ofMinutes(1).plusMillis(100));
		assertThat(isFree("key")).isTrue();
		assertThat(this.revoker.size()).as("the other one may arrive yet").isOne();
	}

	/**
	 * It would keep the lock for its whole lease otherwise.
	 */
	@Test
	void r25RequestThatArrivesShortlyBeforeItsLeaseIsOverIsUndone() {
		revoke("key", 2);
		pass(HOUR.minusSeconds(2));
		this.store.memory.acquire(request("key"));
		pass(Duration.ofSeconds(2));
		assertThat(isFree("key")).isTrue();
	}

	@Test
	void r25NewRevocationDoesNotWaitForRepetitions() {
		revoke("old", 1);
		pass(Duration.ofMinutes(30));
		this.store.memory.acquire(request("new"));
		revoke("new", 1);
		assertThat(pass(Duration.ofMillis(10))).isOne();
		assertThat(isFree("new")).isTrue();
		assertThat(this.revoker.size()).isOne();
	}

	@Test
	void r25LocksAreFreeHalfATimeoutAfterTheStoreIsBack() {
		this.store.down = true;
		for (int i = 0; i < 100; i++) {
			this.store.memory.acquire(request("key-" + i));
			revoke("key-" + i, 1);
		}
		pass(Duration.ofMinutes(1));
		assertThat(pass(Duration.ofMinutes(30))).as("one call a round").isBetween(1800 * 2, 1800 * 4);
		this.store.down = false;
		pass(TIMEOUT.dividedBy(2));
		assertThat(this.revoker.size()).isZero();
		assertThat(isFree("key-0") && isFree("key-99")).isTrue();
	}

	@Test
	void shortFailureAfterALongOutageIsNotWaitedForLong() {
		this.store.down = true;
		revoke("first", 1);
		pass(Duration.ofMinutes(1));
		this.store.down = false;
		pass(TIMEOUT);
		this.store.down = true;
		revoke("second", 1);
		assertThat(pass(Duration.ofMillis(20))).as("calls").isGreaterThan(2);
	}

	/**
	 * A server that stood still for hours executes what it has received, one request
	 * before its revocation and one after it.
	 */
	@Test
	void r25RequestThatIsExecutedAfterAnOutageIsUndone() {
		this.store.down = true;
		revoke("key", 2);
		pass(HOUR.multipliedBy(3));
		assertThat(this.revoker.size()).isOne();
		this.store.memory.acquire(request("key"));
		this.store.down = false;
		pass(TIMEOUT.dividedBy(2));
		assertThat(isFree("key")).isTrue();
		this.store.memory.acquire(request("key"));
		pass(TIMEOUT);
		assertThat(isFree("key")).isTrue();
		pass(HOUR.plus(TIMEOUT));
		assertThat(this.revoker.size()).isZero();
	}

	@Test
	void r51RevocationOfALongOutageIsRepeatedAtTheShutdown() {
		this.store.down = true;
		revoke("key", 2);
		revoke("other", 2);
		pass(HOUR.multipliedBy(3));
		this.store.memory.acquire(request("key"));
		this.store.memory.acquire(request("other"));
		this.store.down = false;
		this.revoker.flush(Deadline.after(this.clock, TIMEOUT));
		assertThat(isFree("key") && isFree("other")).isTrue();
	}

	@Test
	void r25RevocationsOfALongOutageDelayNoOthersAndAreLimited() {
		this.store.unreachable = (key) -> key.startsWith("down");
		for (int i = 0; i < 10_100; i++) {
			revoke("down-" + i, 1);
		}
		pass(HOUR.plusSeconds(10));
		assertThat(this.revoker.size()).isBetween(9_999, 10_001);
		this.store.memory.acquire(request("new"));
		revoke("new", 1);
		pass(TIMEOUT);
		assertThat(isFree("new")).isTrue();
		this.store.unreachable = (key) -> false;
		pass(TIMEOUT);
		pass(HOUR.plus(TIMEOUT));
		assertThat(this.revoker.size()).isZero();
	}

	/**
	 * The last repetition begins shortly before the lease is over.
	 */
	@Test
	void r25RevocationEndsWithItsLeaseOnASlowStore() {
		this.store.beforeRelease = () -> this.clock.pass(TIMEOUT.multipliedBy(9).dividedBy(10));
		revoke("key", 1);
		pass(HOUR.plus(TIMEOUT));
		assertThat(this.revoker.size()).isZero();
	}

	@Test
	void r25RevocationThatIsRefusedForGoodEndsWithItsLease() {
		this.store.beforeRelease = () -> {
			throw new StoreException(StoreException.Effect.NONE, true, "no right to delete", null);
		};
		revoke("key", 1);
		pass(HOUR.minusSeconds(1));
		assertThat(this.revoker.size()).isOne();
		pass(Duration.ofSeconds(2));
		assertThat(this.revoker.size()).isZero();
	}

	/**
	 * A renewal that got no answer may have begun the lease anew.
	 */
	@Test
	void r25ReleaseThatFailsIsRepeatedForALeaseAfterTheLastRenewal() {
		AcquireContext context = TestContexts.of("key", new LeaseTerms(HOUR, true));
		Lease lease = new Lease(new Lease.Grant(context, "owner of key", 1, this.clock.now(), null), this.clock,
				(hold, loss) -> {
				});
		try (EngineThreads threads = new EngineThreads()) {
			LeaseRenewer renewer = new LeaseRenewer(this.store, this.clock, threads, new LockEvents(threads));
			StoreReleaser releaser = new StoreReleaser(this.store, renewer, this.revoker, threads);
			this.store.memory.acquire(request("key"));
			pass(HOUR.dividedBy(2));
			this.store.renewalsFail = true;
			renewer.renewNow(lease);
			pass(Duration.ofMinutes(25));
			this.store.releasesThrow = true;
			assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(() -> releaser.release(lease));
			pass(Duration.ofMinutes(30));
			assertThat(isFree("key")).isFalse();
			this.store.releasesThrow = false;
			pass(TIMEOUT);
			assertThat(isFree("key")).isTrue();
		}
	}

	@Test
	void revocationsOfFailedNodeDelayNoOthers() {
		this.store.unreachable = (key) -> key.startsWith("down");
		for (int i = 0; i < 10; i++) {
			revoke("down-" + i, 1);
			revoke("late-" + i, 1);
		}
		pass(Duration.ofSeconds(10));
		for (int i = 0; i < 10; i++) {
			this.store.memory.acquire(request("late-" + i));
		}
		pass(Duration.ofMinutes(1));
		for (int i = 0; i < 10; i++) {
			assertThat(isFree("late-" + i)).isTrue();
		}
		assertThat(this.revoker.size()).isEqualTo(10);
	}

	@Test
	void b14RevocationSurvivesAnyThrowable() {
		this.store.memory.acquire(request("key"));
		this.store.releasesThrow = true;
		revoke("key", 1);
		pass(Duration.ofSeconds(5));
		this.store.releasesThrow = false;
		pass(TIMEOUT);
		assertThat(isFree("key")).isTrue();
		assertThat(this.revoker.size()).isZero();
	}

	@Test
	void flushStopsAtTheFirstFailure() {
		for (int i = 0; i < 20; i++) {
			revoke("key-" + i, 1);
		}
		pass(Duration.ofMinutes(10));
		for (int i = 0; i < 20; i++) {
			this.store.memory.acquire(request("key-" + i));
		}
		this.store.down = true;
		int before = this.store.releases.get();
		this.revoker.flush(Deadline.after(this.clock, TIMEOUT));
		assertThat(this.store.releases.get() - before).isOne();
		this.store.down = false;
		this.revoker.flush(Deadline.after(this.clock, Duration.ZERO));
		assertThat(this.revoker.size()).isEqualTo(20);
		this.revoker.flush(Deadline.after(this.clock, TIMEOUT));
		assertThat(this.revoker.size()).isZero();
		assertThat(isFree("key-0") && isFree("key-19")).isTrue();
	}

}
