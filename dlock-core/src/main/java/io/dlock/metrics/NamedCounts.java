package io.dlock.metrics;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleBinaryOperator;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Numbers by name, for one gauge of each name. They are counted when a gauge is read, but
 * once for all gauges that are read together.
 */
final class NamedCounts {

	static final String NO_NAME = "none";

	static final String OTHER_NAMES = "other";

	/** Looking at a lock takes less than that. */
	private static final long NANOS_OF_USE = 1000;

	private final Supplier<? extends Map<String, ? extends Number>> source;

	private final DoubleBinaryOperator together;

	private final @Nullable NamedCounts locks;

	private volatile Counted latest = new Counted(Map.of(), 0, 0);

	/**
	 * Create numbers of locks.
	 * @param source counts them
	 */
	NamedCounts(Supplier<? extends Map<String, ? extends Number>> source) {
		this(source, Double::sum, null);
	}

	/**
	 * Create numbers that are something else.
	 * @param source tells them
	 * @param together makes one number of those of two names
	 * @param locks the number of locks that the source looks at, or {@code null} if it
	 * counts them
	 */
	NamedCounts(Supplier<? extends Map<String, ? extends Number>> source, DoubleBinaryOperator together,
			@Nullable NamedCounts locks) {
		this.source = source;
		this.together = together;
		this.locks = locks;
	}

	double of(String name) {
		return counted().counts.getOrDefault(name, 0.0);
	}

	/**
	 * The number of all that has no gauge of its own.
	 * @param names those that have
	 */
	double ofOthers(Set<String> names) {
		return counted().counts.entrySet()
			.stream()
			.filter((count) -> count.getKey().equals(OTHER_NAMES) || !names.contains(count.getKey()))
			.mapToDouble(Map.Entry::getValue)
			.reduce(0, this.together);
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
		Map<String, Double> counts = new HashMap<>();
		this.source.get()
			.forEach((name, count) -> counts.merge(name.isEmpty() ? NO_NAME : name, count.doubleValue(),
					this.together::applyAsDouble));
		long total = (this.locks != null) ? this.locks.counted().total
				: (long) counts.values().stream().mapToDouble(Double::doubleValue).sum();
		return new Counted(counts, total, System.nanoTime());
	}

	/**
	 * A count.
	 *
	 * @param counts the numbers by name
	 * @param total the number of locks that were looked at
	 * @param nanos when
	 */
	private record Counted(Map<String, Double> counts, long total, long nanos) {

	}

}
