package io.dlock.metrics;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.dlock.console.LockCount;
import io.dlock.console.LockKind;

/**
 * Locks and requests by name and kind, for the gauges. They are counted when a gauge is
 * read, but once for all gauges that are read together.
 */
final class LockCountsByName {

	static final String NO_NAME = "none";

	static final String OTHER_NAMES = "other";

	/** Looking at a lock takes less than that. */
	private static final long NANOS_OF_USE = 1000;

	private final Supplier<Collection<LockCount>> source;

	private volatile @Nullable Counted latest;

	LockCountsByName(Supplier<Collection<LockCount>> source) {
		this.source = source;
	}

	LockCount of(String name, LockKind kind) {
		Group group = new Group(name, kind);
		return counted().counts.getOrDefault(group, nothing(group));
	}

	/**
	 * All that has no gauge of its own.
	 * @param names those that have
	 */
	LockCount ofOthers(Set<String> names, LockKind kind) {
		return counted().counts.values()
			.stream()
			.filter((count) -> count.kind() == kind
					&& (count.name().equals(OTHER_NAMES) || !names.contains(count.name())))
			.reduce(nothing(new Group(OTHER_NAMES, kind)), LockCount::plus);
	}

	private static LockCount nothing(Group group) {
		return new LockCount(group.name, group.kind, 0, 0, Duration.ZERO);
	}

	private Counted counted() {
		Counted counted = this.latest;
		if (counted == null || System.nanoTime() - counted.nanos >= counted.total * NANOS_OF_USE) {
			counted = count();
			this.latest = counted;
		}
		return counted;
	}

	private Counted count() {
		Map<Group, LockCount> counts = new HashMap<>();
		long total = 0;
		for (LockCount count : this.source.get()) {
			Group group = new Group(count.name().isEmpty() ? NO_NAME : count.name(), count.kind());
			counts.put(group, counts.getOrDefault(group, nothing(group)).plus(count));
			total += count.held() + count.waiting();
		}
		return new Counted(counts, total, System.nanoTime());
	}

	private record Group(String name, LockKind kind) {

	}

	/**
	 * A count.
	 *
	 * @param counts the numbers of each name and kind
	 * @param total the number of locks and requests that were looked at
	 * @param nanos when
	 */
	private record Counted(Map<Group, LockCount> counts, long total, long nanos) {

	}

}
