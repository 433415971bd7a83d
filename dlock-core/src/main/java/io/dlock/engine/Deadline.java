package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The end of a wait, on the monotonic clock.
 */
final class Deadline {

	/** 146 years, far from overflow. */
	private static final long UNLIMITED_NANOS = Long.MAX_VALUE / 2;

	private final MachineClock clock;

	private final long start;

	private final long limit;

	private Deadline(MachineClock clock, long limit) {
		this.clock = clock;
		this.start = clock.nanoTime();
		this.limit = limit;
	}

	static Deadline after(MachineClock clock, Duration wait) {
		return new Deadline(clock, Math.min(UNLIMITED_NANOS, TimeUnit.NANOSECONDS.convert(wait)));
	}

	long remainingNanos() {
		return this.limit - (this.clock.nanoTime() - this.start);
	}

	boolean isOver() {
		return remainingNanos() <= 0;
	}

	/**
	 * Whether there is no time to wait at all.
	 * @return whether the wait time is zero
	 */
	boolean isImmediate() {
		return this.limit == 0;
	}

	boolean isUnlimited() {
		return this.limit == UNLIMITED_NANOS;
	}

	Duration elapsed() {
		return Duration.ofNanos(this.clock.nanoTime() - this.start);
	}

}
