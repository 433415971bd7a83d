package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The end of a wait, on the monotonic clock.
 */
final class Deadline {

	/** 146 years: far enough, and far from overflow. */
	private static final long FOREVER_NANOS = Long.MAX_VALUE / 2;

	private final MachineClock clock;

	private final long start;

	private final long limit;

	private Deadline(MachineClock clock, long limit) {
		this.clock = clock;
		this.start = clock.nanoTime();
		this.limit = limit;
	}

	static Deadline after(MachineClock clock, Duration wait) {
		return new Deadline(clock, Math.min(FOREVER_NANOS, TimeUnit.NANOSECONDS.convert(wait)));
	}

	long remainingNanos() {
		return this.limit - (this.clock.nanoTime() - this.start);
	}

	boolean isOver() {
		return remainingNanos() <= 0;
	}

	boolean isForever() {
		return this.limit == FOREVER_NANOS;
	}

	Duration elapsed() {
		return Duration.ofNanos(this.clock.nanoTime() - this.start);
	}

}
