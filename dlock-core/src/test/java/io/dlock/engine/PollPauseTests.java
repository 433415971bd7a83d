package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoredLock;

import static org.assertj.core.api.Assertions.assertThat;

class PollPauseTests {

	private static final Duration LEASE = Duration.ofHours(1);

	private final TurnedClock clock = new TurnedClock();

	private final PollPause queued = new PollPause(new AcquireContext(LockRequest.of("key"),
			Deadline.after(this.clock, LockRequest.FOREVER), LockSettings.defaults(), 0), Duration.ofMillis(100));

	private static Duration pause(int limit, boolean byMember) {
		AcquireContext context = new AcquireContext(LockRequest.of("key"),
				Deadline.after(MachineClock.SYSTEM, LockRequest.FOREVER), LockSettings.defaults(), limit);
		Refused refused = new Refused(LEASE, lock(byMember), 0);
		return Duration.ofNanos(new PollPause(context, Duration.ofMinutes(5)).nanos(refused, true));
	}

	private static StoredLock lock(boolean byMember) {
		return new StoredLock("key", "holder", "", Instant.EPOCH, Instant.EPOCH.plus(LEASE), 1, Duration.ZERO, false,
				byMember);
	}

	/**
	 * A writer with a long poll interval was taken for dead.
	 */
	@Test
	void exclusiveRequestBehindMembersAsksTwiceInTenSeconds() {
		assertThat(pause(0, true)).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void otherRequestsPauseLonger() {
		assertThat(pause(0, false)).isGreaterThan(Duration.ofMinutes(2));
		assertThat(pause(AcquireCommand.UNLIMITED, true)).isGreaterThan(Duration.ofMinutes(2));
	}

	/**
	 * Signals that are lost, and processes that have died, would cost as many seconds as
	 * processes were queued ten times.
	 */
	@Test
	void requestKnowsWhenItsTurnIsNear() {
		Duration interval = Duration.ofMillis(100);
		assertThat(next(100)).as("before anything is known").isLessThan(Duration.ofMillis(1500));
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(next(80)).as("half of four seconds").isEqualTo(Duration.ofSeconds(2));
		this.clock.pass(Duration.ofSeconds(2));
		assertThat(next(40)).as("half of two seconds").isEqualTo(Duration.ofSeconds(1));
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(next(2)).isEqualTo(interval);
		this.clock.pass(interval);
		assertThat(next(2)).as("stands still").isBetween(Duration.ofMillis(150), Duration.ofMillis(200));
	}

	@Test
	void requestInAQueueThatStandsStillAsksAsItsPlaceSays() {
		next(100);
		Duration pause = Duration.ofSeconds(1);
		for (int i = 0; i < 4; i++) {
			this.clock.pass(pause);
			pause = next(100);
		}
		assertThat(pause).isBetween(Duration.ofSeconds(5), Duration.ofMillis(10_100));
	}

	/**
	 * A request that found the queue full would sleep beside an idle lock.
	 */
	@Test
	void requestWithoutAPlacePollsWithTheBackOff() {
		next(200);
		this.clock.pass(Duration.ofSeconds(10));
		assertThat(next(-1)).isLessThanOrEqualTo(Duration.ofMillis(2));
		assertThat(next(-1)).isBetween(Duration.ofMillis(2), Duration.ofMillis(4));
	}

	/**
	 * A process that has died had many requests in the queue.
	 */
	@Test
	void requestBehindDeadOnesAwaitsTheReservationsForThem() {
		Duration reservation = Duration.ofMillis(50);
		next(100);
		for (int place = 99; place > 0; place--) {
			this.clock.pass(Duration.ofSeconds(5));
			assertThat(reserved(reservation, place)).isEqualTo(reservation.plusMillis(1));
		}
	}

	@Test
	void reservationInAQueueThatMovesIsNotAwaited() {
		next(100);
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(reserved(Duration.ofMillis(50), 80)).isEqualTo(Duration.ofSeconds(2));
	}

	/**
	 * All that wait for it would ask at the same time.
	 */
	@Test
	void endOfALockThatIsKeptIsNotAwaited() {
		next(500);
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(reserved(Duration.ofMillis(1500), 499)).isGreaterThan(Duration.ofSeconds(4));
	}

	private Duration next(int place) {
		return Duration.ofNanos(this.queued.nanos(new Refused(Duration.ofSeconds(5), lock(false), place), true));
	}

	private Duration reserved(Duration reservation, int place) {
		return Duration.ofNanos(this.queued.nanos(new Refused(reservation, null, place), true));
	}

}
