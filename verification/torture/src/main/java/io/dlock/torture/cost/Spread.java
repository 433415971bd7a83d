package io.dlock.torture.cost;

import java.util.List;

/**
 * The median of some figures, with the lowest and the highest of them.
 *
 * @param median the one in the middle
 * @param min the lowest
 * @param max the highest
 */
record Spread(double median, double min, double max) {

	static Spread of(List<Double> figures) {
		List<Double> sorted = figures.stream().sorted().toList();
		int last = sorted.size() - 1;
		return new Spread((sorted.get(last / 2) + sorted.get(sorted.size() / 2)) / 2, sorted.get(0), sorted.get(last));
	}

	/**
	 * The figures as a text.
	 * @param format the format of the median, and of the others without their unit
	 */
	String text(String format) {
		String number = format.split(" ", 2)[0];
		return (format + " (" + number + "–" + number + ")").formatted(this.median, this.min, this.max);
	}

}
