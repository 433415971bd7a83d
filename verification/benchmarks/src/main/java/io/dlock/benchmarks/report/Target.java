package io.dlock.benchmarks.report;

import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * A figure we want to reach.
 *
 * @param name what it is about
 * @param atLeast whether the limit is the lowest that meets the target, or the highest
 * @param limit the limit
 * @param figure finds the figure in the results
 */
record Target(String name, boolean atLeast, double limit, Function<Results, Optional<Double>> figure) {

	static Target atLeast(String name, double limit, Function<Results, Optional<Double>> figure) {
		return new Target(name, true, limit, figure);
	}

	static Target atMost(String name, double limit, Function<Results, Optional<Double>> figure) {
		return new Target(name, false, limit, figure);
	}

	String wanted() {
		return (this.atLeast ? "≥ " : "≤ ") + number(this.limit);
	}

	/**
	 * Compare with what was measured.
	 * @param results what was measured
	 * @return the figure and whether it meets the target
	 */
	Outcome outcome(Results results) {
		Optional<Double> measured = this.figure.apply(results);
		String verdict = measured
			.map((value) -> (this.atLeast ? value >= this.limit : value <= this.limit) ? "met" : "MISSED")
			.orElse("not measured");
		return new Outcome(this.name, wanted(), measured.map(Target::number).orElse("–"), verdict);
	}

	private static String number(double value) {
		double size = Math.abs(value);
		String format = (size >= 100) ? "%,.0f" : (size >= 0.1 || size == 0) ? "%.2f" : "%.4f";
		return String.format(Locale.ROOT, format, value);
	}

	/**
	 * The result of a target.
	 *
	 * @param target the name of the target
	 * @param wanted the limit
	 * @param measured the figure
	 * @param verdict met, missed or not measured
	 */
	record Outcome(String target, String wanted, String measured, String verdict) {
	}

}
