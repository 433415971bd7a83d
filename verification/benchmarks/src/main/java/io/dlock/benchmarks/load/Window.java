package io.dlock.benchmarks.load;

import java.time.Duration;

/**
 * When to measure, by {@link System#nanoTime()}, which all JVMs of a machine share.
 *
 * @param from when the warm-up ends
 * @param until when the measurement ends
 */
public record Window(long from, long until) {

	/**
	 * A window that begins after a warm-up.
	 * @param now when the warm-up begins
	 * @param warmUp how long it lasts
	 * @param measured how long the window lasts
	 * @return the window
	 */
	public static Window after(long now, Duration warmUp, Duration measured) {
		long from = now + warmUp.toNanos();
		return new Window(from, from + measured.toNanos());
	}

	public boolean isOver(long now) {
		return now - this.until >= 0;
	}

	boolean contains(long now) {
		return now - this.from >= 0 && !isOver(now);
	}

	public boolean hasBegun(long now) {
		return now - this.from >= 0;
	}

	double seconds() {
		return (this.until - this.from) / 1e9;
	}

}
