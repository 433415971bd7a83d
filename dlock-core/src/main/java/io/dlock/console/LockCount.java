package io.dlock.console;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The locks and requests of a name and a kind.
 *
 * @param name the name of the requests; empty for requests without a name
 * @param kind the kind of the locks
 * @param held the number of locks that are held
 * @param waiting the number of requests that wait for a lock
 * @param longestHold the age of the oldest hold; zero if there is none
 * @since 0.1
 */
public record LockCount(String name, LockKind kind, int held, int waiting, Duration longestHold) {

	/**
	 * Add the locks and requests of another count.
	 * @param other the other count
	 * @return both together, with the name and the kind of this one
	 */
	public LockCount plus(LockCount other) {
		return new LockCount(this.name, this.kind, this.held + other.held, this.waiting + other.waiting,
				(this.longestHold.compareTo(other.longestHold) >= 0) ? this.longestHold : other.longestHold);
	}

	/**
	 * Add the counts of the same name and kind.
	 * @param counts the counts
	 * @return one count for each name and kind
	 */
	public static Collection<LockCount> sum(Stream<LockCount> counts) {
		return counts
			.collect(Collectors.toMap((count) -> List.of(count.name, count.kind), Function.identity(), LockCount::plus))
			.values();
	}

}
