package io.dlock.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.LockEvent;
import io.dlock.LockRequest;
import io.dlock.engine.MachineClock.Moment;

/**
 * What is remembered of a hold for those who listen: who asked for it and since when it
 * is held.
 */
final class Tenure {

	private final LockRequest request;

	private final Moment since;

	private boolean announced;

	/** The loss of a lock of which nobody was told yet that it was acquired. */
	private LockEvent.@Nullable Lost early;

	Tenure(LockRequest request, Moment since) {
		this.request = request;
		this.since = since;
	}

	LockRequest request() {
		return this.request;
	}

	Duration elapsed(MachineClock clock) {
		return Duration.ofNanos(clock.nanoTime() - this.since.nanos());
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
