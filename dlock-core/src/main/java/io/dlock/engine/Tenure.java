package io.dlock.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.LockEvent;
import io.dlock.LockRequest;
import io.dlock.LossType;
import io.dlock.engine.MachineClock.Moment;

/**
 * What is remembered of a hold that has limits, or of which somebody wants to know: who
 * asked for it and since when it is held.
 */
final class Tenure {

	private final LockRequest request;

	private final Moment since;

	private final MachineClock clock;

	private final @Nullable Duration maxHold;

	private volatile @Nullable Duration minHold;

	private boolean announced;

	/** The loss of a lock of which nobody was told yet that it was acquired. */
	private LockEvent.@Nullable Lost early;

	/**
	 * Create the tenure of a hold that begins now.
	 * @param request the request
	 * @param maxHold how long it may last, or {@code null}
	 * @param clock the clock
	 */
	Tenure(LockRequest request, @Nullable Duration maxHold, MachineClock clock) {
		this.request = request;
		this.clock = clock;
		this.since = clock.now();
		this.minHold = request.minHold();
		this.maxHold = maxHold;
	}

	LockRequest request() {
		return this.request;
	}

	Moment since() {
		return this.since;
	}

	Duration elapsed() {
		return Duration.ofNanos(this.clock.nanoTime() - this.since.nanos());
	}

	/**
	 * How much is left of the longest time it may be held.
	 * @return nanoseconds, negative if it is over
	 */
	long nanosLeft() {
		return (this.maxHold != null) ? this.maxHold.toNanos() - this.clock.elapsedNanos(this.since) : Long.MAX_VALUE;
	}

	/**
	 * The loss of who holds the lock for too long.
	 * @return the loss
	 */
	Loss overdue() {
		return new Loss(LossType.MAX_HOLD,
				"it was held for its maxHold of " + ((this.maxHold != null) ? this.maxHold.toMillis() : 0) + " ms");
	}

	/**
	 * How much is left of the shortest time the lock is to stay taken.
	 * @return nanoseconds, zero or less if it may be free
	 */
	long minNanosLeft() {
		Duration shortest = this.minHold;
		return (shortest != null) ? shortest.toNanos() - (this.clock.nanoTime() - this.since.nanos()) : 0;
	}

	/**
	 * Nobody ever got to see the lock: it may be free at once.
	 */
	void unused() {
		this.minHold = null;
	}

	/**
	 * It has been told that the lock was acquired.
	 * @return a loss that happened before and is to be told now, or {@code null}
	 */
	synchronized LockEvent.@Nullable Lost announced() {
		this.announced = true;
		return this.early;
	}

	synchronized boolean isAnnounced() {
		return this.announced;
	}

	/**
	 * The lock was lost.
	 * @param loss the event
	 * @return whether to tell it now; otherwise it follows when it has been told that the
	 * lock was acquired
	 */
	synchronized boolean lost(LockEvent.Lost loss) {
		this.early = loss;
		return this.announced;
	}

}
