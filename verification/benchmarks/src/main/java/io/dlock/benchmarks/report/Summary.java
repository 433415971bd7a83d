package io.dlock.benchmarks.report;

import java.util.Arrays;
import java.util.List;

/**
 * The figures of several rounds in short.
 *
 * @param median the middle one, or the mean of the two in the middle
 * @param min the lowest
 * @param max the highest
 */
public record Summary(double median, double min, double max) {

	/**
	 * Summarise figures.
	 * @param values at least one figure
	 * @return their summary
	 */
	public static Summary of(List<Double> values) {
		double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		if (sorted.length == 0) {
			throw new IllegalArgumentException("Nothing was measured");
		}
		int middle = sorted.length / 2;
		double median = (sorted.length % 2 == 1) ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
		return new Summary(median, sorted[0], Arrays.stream(sorted).max().orElseThrow());
	}

}
