package io.dlock.store;

import java.time.Duration;

/**
 * How long a store grants no lock after a failover or a restart, in which it may have
 * forgotten what it granted: the longest lease plus the time for which the former primary
 * may have answered in parallel. By then, every lock that the store may have forgotten is
 * over. All processes that share the store need the same values.
 *
 * @param longestLease the longest lease of any lock of any process, at least 10 ms and at
 * most an hour. The store refuses a longer one
 * @param maxLag how long a former primary may go on to answer after the new one has taken
 * over, at most an hour; zero for PostgreSQL
 * @since 0.1
 */
public record Quarantine(Duration longestLease, Duration maxLag) {

	private static final Duration SHORTEST = Duration.ofMillis(10);

	private static final Duration LONGEST = Duration.ofHours(1);

	public Quarantine {
		if (longestLease.compareTo(SHORTEST) < 0 || longestLease.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					"'longestLease' must be from %s to %s but is %s".formatted(SHORTEST, LONGEST, longestLease));
		}
		if (maxLag.isNegative() || maxLag.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException("'maxLag' must be from zero to %s but is %s".formatted(LONGEST, maxLag));
		}
	}

	/**
	 * Check that a lock is over by the end of the quarantine.
	 * @param command the command to acquire the lock
	 * @throws IllegalArgumentException if its lease is longer than the longest lease
	 */
	public void check(LockStore.AcquireCommand command) {
		if (command.lease().compareTo(this.longestLease) > 0) {
			throw new IllegalArgumentException(
					"A lease of %d ms is longer than the longest lease of %d ms, after which the quarantine of the store ends"
						.formatted(command.lease().toMillis(), this.longestLease.toMillis()));
		}
	}

}
