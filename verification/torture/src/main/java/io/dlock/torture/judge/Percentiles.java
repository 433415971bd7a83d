package io.dlock.torture.judge;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

/**
 * A distribution of times, in milliseconds.
 *
 * @param count how many
 * @param p50 half are not above
 * @param p99 of a hundred, one is above
 * @param max the highest
 */
public record Percentiles(int count, double p50, double p99, double max) {

	static Percentiles ofNanos(LongStream nanos) {
		return of(nanos.mapToDouble((time) -> time / 1e6));
	}

	public static Percentiles of(List<Double> millis) {
		return of(millis.stream().mapToDouble(Double::doubleValue));
	}

	private static Percentiles of(DoubleStream millis) {
		double[] sorted = millis.sorted().toArray();
		return (sorted.length == 0) ? new Percentiles(0, 0, 0, 0)
				: new Percentiles(sorted.length, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
	}

	private static double at(double[] sorted, double part) {
		int rank = (int) Math.ceil(part * sorted.length);
		return sorted[Math.max(0, rank - 1)];
	}

}
