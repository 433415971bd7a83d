package io.dlock.torture.fault;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * A range of numbers to draw from.
 *
 * @param min the smallest
 * @param max the largest
 */
public record Range(long min, long max) {

	static final Range NONE = new Range(0, 0);

	public Range {
		if (min > max) {
			throw new IllegalArgumentException(min + " > " + max);
		}
	}

	static Range of(long min, long max) {
		return new Range(min, max);
	}

	/**
	 * Return a range of milliseconds.
	 * @param unit what the factors are factors of, mostly the lease
	 * @param min the smallest factor
	 * @param max the largest factor
	 * @return the range
	 */
	static Range times(Duration unit, double min, double max) {
		return new Range(Math.round(unit.toMillis() * min), Math.round(unit.toMillis() * max));
	}

	long draw(RandomGenerator random) {
		return random.nextLong(this.min, this.max + 1);
	}

}
