package io.dlock.metrics;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Numbers by name, for one gauge of each name. They are counted when a gauge is read, but
 * once for all gauges that are read together.
 */
final class NamedCounts {

	/** Counting takes less than that for each of what is counted. */
	private static final long NANOS_OF_USE = 1000;

	private final Supplier<Map<String, Integer>> source;

	private volatile Counted latest = new Counted(Map.of(), 0, 0);

	NamedCounts(Supplier<Map<String, Integer>> source) {
		this.source = source;
	}

	int of(String name) {
		return counted().counts.getOrDefault(name, 0);
	}

	/**
	 * The number of all that has no gauge of its own.
	 * @param names those that have
	 */
	int ofOthers(Set<String> names) {
		return counted().counts.entrySet()
			.stream()
			.filter((count) -> count.getKey().equals(LockMeters.OTHER_NAMES) || !names.contains(count.getKey()))
			.mapToInt(Map.Entry::getValue)
			.sum();
	}

	private Counted counted() {
		Counted counted = this.latest;
		if (System.nanoTime() - counted.nanos >= counted.total * NANOS_OF_USE) {
			counted = count();
			this.latest = counted;
		}
		return counted;
	}

	private Counted count() {
		Map<String, Integer> counts = new HashMap<>();
		this.source.get()
			.forEach((name, count) -> counts.merge(name.isEmpty() ? LockMeters.NO_NAME : name, count, Integer::sum));
		long total = counts.values().stream().mapToLong(Integer::longValue).sum();
		return new Counted(counts, total, System.nanoTime());
	}

	/**
	 * What was counted.
	 *
	 * @param counts the numbers by name
	 * @param total all together
	 * @param nanos when
	 */
	private record Counted(Map<String, Integer> counts, long total, long nanos) {

	}

}
