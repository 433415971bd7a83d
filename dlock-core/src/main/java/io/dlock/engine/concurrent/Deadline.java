package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The end of a wait, on the monotonic clock.
 */
public final class Deadline {

	/** 146 years, far from overflow. */
	private static final long UNLIMITED_NANOS = Long.MAX_VALUE / 2;

	private final MachineClock clock;

	private final long start;

	private volatile long limit;

	private Deadline(MachineClock clock, long limit) {
		this.clock = clock;
		this.start = clock.nanoTime();
		this.limit = limit;
	}

	public static Deadline after(MachineClock clock, Duration wait) {
		return new Deadline(clock, Math.min(UNLIMITED_NANOS, TimeUnit.NANOSECONDS.convert(wait)));
	}

	/**
	 * End the wait now.
	 */
	public void end() {
		this.limit = Math.max(1, this.clock.nanoTime() - this.start);
	}

	public long remainingNanos() {
		return this.limit - (this.clock.nanoTime() - this.start);
	}

	public boolean isOver() {
		return remainingNanos() <= 0;
	}

	/**
	 * Whether there is no time to wait at all.
	 * @return whether the wait time is zero
	 */
	public boolean isImmediate() {
		return this.limit == 0;
	}

	public boolean isUnlimited() {
		return this.limit == UNLIMITED_NANOS;
	}

	public Duration elapsed() {
		return Duration.ofNanos(this.clock.nanoTime() - this.start);
	}

}
