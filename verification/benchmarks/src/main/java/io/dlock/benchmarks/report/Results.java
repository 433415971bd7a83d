package io.dlock.benchmarks.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that has been measured, in the order of its measurement.
 */
public final class Results {

	private final Map<Series, List<Double>> figures = new LinkedHashMap<>();

	private final List<String> notes = new ArrayList<>();

	/**
	 * Add the figure of one round.
	 * @param series what it is about
	 * @param value the figure
	 */
	public void add(Series series, double value) {
		this.figures.computeIfAbsent(series, (key) -> new ArrayList<>()).add(value);
	}

	/**
	 * Add something to read beside the figures.
	 * @param note a line
	 */
	public void note(String note) {
		this.notes.add(note);
	}

	List<String> notes() {
		return Collections.unmodifiableList(this.notes);
	}

	Map<Series, List<Double>> figures() {
		return Collections.unmodifiableMap(this.figures);
	}

	Optional<Summary> summary(Series series) {
		return Optional.ofNullable(this.figures.get(series)).map(Summary::of);
	}

	/**
	 * The ratio of two contenders, round by round.
	 * @param one the first
	 * @param other the second
	 * @return the ratios, or empty if one of the two was not measured
	 */
	Optional<Summary> ratio(Series one, Series other) {
		List<Double> numerators = this.figures.getOrDefault(one, List.of());
		List<Double> denominators = this.figures.getOrDefault(other, List.of());
		List<Double> ratios = new ArrayList<>();
		for (int i = 0; i < Math.min(numerators.size(), denominators.size()); i++) {
			ratios.add(numerators.get(i) / denominators.get(i));
		}
		return ratios.isEmpty() ? Optional.empty() : Optional.of(Summary.of(ratios));
	}

	/**
	 * How often the locks of a contender failed to exclude.
	 * @param contender the contender
	 * @return the violations in all scenarios
	 */
	public long violations(String contender) {
		return this.figures.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().metric() == Metric.VIOLATIONS
					&& entry.getKey().contender().equals(contender))
			.flatMap((entry) -> entry.getValue().stream())
			.mapToLong(Double::longValue)
			.sum();
	}

}
