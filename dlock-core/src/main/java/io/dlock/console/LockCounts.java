package io.dlock.console;

import java.time.Duration;
import java.util.Collection;

/**
 * Counts the locks of this process, for gauges. Thread-safe; no method calls the store.
 *
 * @since 0.1
 */
public interface LockCounts {

	/**
	 * The number of locks that this process holds, in constant time. Nested handles share
	 * one lock. A lock that is kept for its {@code minHold} after its release has no
	 * holder.
	 * @return the number of locks
	 */
	int held();

	/**
	 * The number of requests of this process that wait for a lock: behind other requests
	 * of this process, for a holder elsewhere, or for the answer of the store. Reads each
	 * key that is held or waited for.
	 * @return the number of requests
	 */
	int waiting();

	/**
	 * The held locks, the waiting requests and the longest holds by the name and the kind
	 * of the requests. Reads each lock that is held and each key that is waited for.
	 * @return a count for each name and kind that has a held lock or a waiting request
	 */
	Collection<LockCount> byName();

	/**
	 * How long the store grants no lock after a failover, as far as this process knows.
	 * @return the rest of the quarantine, or zero
	 */
	default Duration quarantine() {
		return Duration.ZERO;
	}

}
