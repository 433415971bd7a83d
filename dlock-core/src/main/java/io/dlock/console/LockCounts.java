package io.dlock.console;

import java.time.Duration;
import java.util.Map;

/**
 * Counts the locks of this process, for gauges. Thread-safe; no method calls the store.
 * Locks and requests without a name count under an empty one.
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
	 * The same as {@link #held()} by the name of the request. Reads each lock that is
	 * held.
	 * @return the number of locks of each name of which a lock is held
	 */
	Map<String, Integer> heldByName();

	/**
	 * The same as {@link #waiting()} by the name of the request.
	 * @return the number of requests of each name for which a request waits
	 */
	Map<String, Integer> waitingByName();

	/**
	 * The age of the oldest hold of each name. Reads each lock that is held.
	 * @return the age for each name of which a lock is held
	 */
	Map<String, Duration> longestHoldsByName();

}
