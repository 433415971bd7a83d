package io.dlock.engine.lease;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.LockEvent;
import io.dlock.LockRequest;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.MachineClock.Moment;

/**
 * The details of a hold that has a {@code minHold} or {@code maxHold}, or whose events
 * have listeners. Other holds do without them.
 */
public final class HoldDetails {

	private final LockRequest request;

	private final Moment since;

	private final MachineClock clock;

	private final @Nullable Duration maxHold;

	private volatile @Nullable Duration minHold;

	private boolean announced;

	/** The loss of a lock whose acquisition has not been announced yet. */
	private LockEvent.@Nullable Lost earlyLoss;

	/**
	 * Create the details of a hold that begins now.
	 * @param request the request
	 * @param maxHold how long the hold may last, or {@code null}
	 * @param clock the clock
	 */
	public HoldDetails(LockRequest request, @Nullable Duration maxHold, MachineClock clock) {
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
	 * The rest of the {@code maxHold}.
	 * @return nanoseconds, negative if it is over
	 */
	long maxHoldNanosLeft() {
		return (this.maxHold != null) ? this.maxHold.toNanos() - this.clock.elapsedNanos(this.since) : Long.MAX_VALUE;
	}

	/**
	 * The reason of a loss if the {@code maxHold} is exceeded.
	 * @return the reason, for messages
	 */
	String maxHoldExceeded() {
		return "it was held for its maxHold of " + ((this.maxHold != null) ? this.maxHold.toMillis() : 0) + " ms";
	}

	/**
	 * The rest of the {@code minHold}.
	 * @return nanoseconds, zero or less if the lock may be free
	 */
	long minHoldNanosLeft() {
		Duration shortest = this.minHold;
		return (shortest != null) ? shortest.toNanos() - (this.clock.nanoTime() - this.since.nanos()) : 0;
	}

	/**
	 * Drop the {@code minHold}: a lock whose handle was never given out may be free at
	 * once.
	 */
	void waiveMinHold() {
		this.minHold = null;
	}

	/**
	 * Note that listeners know of the acquisition.
	 * @return a loss that came first and has to be announced now, or {@code null}
	 */
	synchronized LockEvent.@Nullable Lost announced() {
		this.announced = true;
		return this.earlyLoss;
	}

	synchronized boolean isAnnounced() {
		return this.announced;
	}

	/**
	 * Note that the lock was lost.
	 * @param loss the event
	 * @return whether to announce it now; otherwise it follows the announcement of the
	 * acquisition
	 */
	synchronized boolean lost(LockEvent.Lost loss) {
		this.earlyLoss = loss;
		return this.announced;
	}

}
