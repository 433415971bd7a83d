package io.dlock.benchmarks.scenario;

import org.HdrHistogram.Histogram;

import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.Results;
import io.dlock.benchmarks.report.Series;

/**
 * The figures of one contender in one round.
 *
 * @param results where they go
 * @param series what they are about
 */
record Figures(Results results, Series series) {

	void add(Metric metric, double value) {
		this.results.add(new Series(this.series.scenario(), this.series.store(), this.series.contender(), metric),
				value);
	}

	void add(Metric metric, long value) {
		add(metric, (double) value);
	}

	void latencies(Histogram nanos) {
		add(Metric.P50, nanos.getValueAtPercentile(50) / 1e3);
		add(Metric.P99, nanos.getValueAtPercentile(99) / 1e3);
		add(Metric.MAX, nanos.getMaxValue() / 1e3);
	}

}
