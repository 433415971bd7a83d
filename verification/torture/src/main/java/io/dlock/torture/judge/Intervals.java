package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Times that do not overlap, in order.
 */
final class Intervals {

	static final Intervals NONE = new Intervals(List.of());

	private final List<Interval> intervals;

	private Intervals(List<Interval> intervals) {
		this.intervals = intervals;
	}

	/**
	 * Join times, which may overlap.
	 * @param parts the times
	 * @return the joined times
	 */
	static Intervals of(List<Interval> parts) {
		List<Interval> joined = new ArrayList<>();
		for (Interval next : parts.stream().sorted(Comparator.comparingLong(Interval::from)).toList()) {
			Interval last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
			if (last != null && next.from() <= last.to()) {
				joined.set(joined.size() - 1, new Interval(last.from(), Math.max(last.to(), next.to())));
			}
			else {
				joined.add(next);
			}
		}
		return new Intervals(List.copyOf(joined));
	}

	Intervals and(Intervals others) {
		List<Interval> all = new ArrayList<>(this.intervals);
		all.addAll(others.intervals);
		return of(all);
	}

	/**
	 * The same times, each of which ends later.
	 * @param nanos how much
	 * @return the longer times
	 */
	Intervals extended(long nanos) {
		return of(this.intervals.stream().map((part) -> new Interval(part.from(), part.to() + nanos)).toList());
	}

	boolean intersects(long from, long to) {
		int at = firstEndingAtOrAfter(from);
		return at < this.intervals.size() && this.intervals.get(at).from() <= to;
	}

	/**
	 * How much of a time is covered.
	 * @param from its begin
	 * @param to its end
	 * @return the nanoseconds
	 */
	long covered(long from, long to) {
		long sum = 0;
		for (int i = firstEndingAtOrAfter(from); i < this.intervals.size() && this.intervals.get(i).from() < to; i++) {
			Interval part = this.intervals.get(i);
			sum += Math.max(0, Math.min(to, part.to()) - Math.max(from, part.from()));
		}
		return sum;
	}

	/**
	 * The end of the last of the times that touch this one.
	 * @param from its begin
	 * @param to its end
	 * @param otherwise what to answer if none does
	 */
	long lastEnd(long from, long to, long otherwise) {
		long end = otherwise;
		for (int i = firstEndingAtOrAfter(from); i < this.intervals.size() && this.intervals.get(i).from() <= to; i++) {
			end = Math.max(end, this.intervals.get(i).to());
		}
		return end;
	}

	/**
	 * The part of a time that is covered by these times and not by others.
	 * @param from the begin of the time
	 * @param to its end
	 * @return the nanoseconds
	 */
	long coveredBesides(Intervals others, long from, long to) {
		return and(others).covered(from, to) - others.covered(from, to);
	}

	/**
	 * The times that begin in this one.
	 * @param from its begin
	 * @param to its end
	 * @return the times in order
	 */
	List<Interval> beginningIn(long from, long to) {
		int first = firstEndingAtOrAfter(from);
		if (first < this.intervals.size() && this.intervals.get(first).from() < from) {
			first++;
		}
		int end = first;
		while (end < this.intervals.size() && this.intervals.get(end).from() <= to) {
			end++;
		}
		return this.intervals.subList(first, end);
	}

	List<Interval> all() {
		return this.intervals;
	}

	private int firstEndingAtOrAfter(long time) {
		int low = 0;
		int high = this.intervals.size();
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (this.intervals.get(middle).to() < time) {
				low = middle + 1;
			}
			else {
				high = middle;
			}
		}
		return low;
	}

	/**
	 * A time.
	 *
	 * @param from its begin
	 * @param to its end
	 */
	record Interval(long from, long to) {

	}

}
