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

	private final Map<Invariant, Coverage> coverage = new TreeMap<>();

	private final List<Violation> violations = new ArrayList<>();

	private long lostToMachine;

	private boolean readersSeen;

	private boolean permitsSeen;

	void violation(Invariant invariant, long nanos, String text) {
		if (this.counts.merge(invariant, 1, Integer::sum) <= DESCRIBED) {
			this.violations.add(new Violation(invariant, nanos, text));
		}
	}

	/**
	 * Count a case that is always judged.
	 */
	void judged(Invariant invariant) {
		isJudged(invariant, false);
	}

	/**
	 * Count a case that may be judged. It does not matter whether it is a violation: a
	 * case that would be excused if it was one is excused.
	 * @param excused whether there is a reason for which nothing better was promised
	 * @return whether it is judged
	 */
	boolean isJudged(Invariant invariant, boolean excused) {
		this.coverage.merge(invariant, excused ? new Coverage(0, 1) : new Coverage(1, 0), Coverage::plus);
		return !excused;
	}

	/**
	 * A lock was lost, and nothing but the machine is to blame.
	 */
	void lostToMachine() {
		this.lostToMachine++;
	}

	long lostToMachineCount() {
		return this.lostToMachine;
	}

	/**
	 * Two processes had a shared lock at a time.
	 */
	void readersSeen() {
		this.readersSeen = true;
	}

	boolean areReadersSeen() {
		return this.readersSeen;
	}

	/**
	 * As many permits were held at a time as their limit.
	 */
	void permitsSeen() {
		this.permitsSeen = true;
	}

	boolean arePermitsSeen() {
		return this.permitsSeen;
	}

	Coverage coverage(Invariant invariant) {
		return this.coverage.getOrDefault(invariant, Coverage.NONE);
	}

	int count(Invariant invariant) {
		return this.counts.getOrDefault(invariant, 0);
	}

	List<Violation> violations() {
		return List.copyOf(this.violations);
	}

}
