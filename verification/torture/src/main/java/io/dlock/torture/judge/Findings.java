package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Collects violations. All are counted; the first of each invariant are described.
 */
final class Findings {

	private static final int DESCRIBED = 20;

	private final Map<Invariant, Integer> counts = new TreeMap<>();

	private final Map<Invariant, Integer> excused = new TreeMap<>();

	private final List<Violation> violations = new ArrayList<>();

	void violation(Invariant invariant, long nanos, String text) {
		if (this.counts.merge(invariant, 1, Integer::sum) <= DESCRIBED) {
			this.violations.add(new Violation(invariant, nanos, text));
		}
	}

	/**
	 * What would be a violation, were there not a reason for which nothing better was
	 * promised.
	 */
	void excused(Invariant invariant) {
		this.excused.merge(invariant, 1, Integer::sum);
	}

	int excusedCount(Invariant invariant) {
		return this.excused.getOrDefault(invariant, 0);
	}

	int count(Invariant invariant) {
		return this.counts.getOrDefault(invariant, 0);
	}

	List<Violation> violations() {
		return List.copyOf(this.violations);
	}

}
