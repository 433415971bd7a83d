package io.dlock.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The answer of a store to an acquire.
 *
 * @since 0.1
 */
public sealed interface AcquireResult {

	/**
	 * The owner holds the key.
	 *
	 * @param token the fencing token, as minted by the store: microseconds of its clock,
	 * or one more than the last
	 * @param awaited whether an exclusive request waits in the queue of the key: the
	 * process of a {@linkplain LockStore#isMember member} should then let no other caller
	 * share this membership; always {@code false} for an exclusive owner
	 */
	record Granted(long token, boolean awaited) implements AcquireResult {

		/**
		 * Create the answer to an exclusive owner, or to a member while no exclusive
		 * request waits.
		 * @param token the fencing token
		 */
		public Granted(long token) {
			this(token, false);
		}

	}

	/**
	 * Another owner holds the key, it is reserved for another process, or a queued
	 * request comes first.
	 *
	 * @param remaining how long the key is taken unless a lease is renewed or released:
	 * the rest of the lease or the reservation, and of several members the longest rest.
	 * For a member whose limit is reached, it is the shortest rest. It is zero if the key
	 * may be free by now, so that the caller may ask again at once
	 * @param lock the lock of the holder, for people, and of several members that with
	 * the longest lease; {@code null} if the key has no holder when the store looks it
	 * up: it is reserved, kept or free by now, or the nodes of a quorum do not agree on
	 * one
	 * @param place the number of entries in the queue before that of the caller, or of
	 * all entries if the caller has none; 0 if the caller is next, and -1 if the caller
	 * asked to join the queue and is not in it, as if it is full, or if this store does
	 * not tell. The more entries come before its own, the more slowly a process polls;
	 * after -1 it polls as if there were no queue
	 */
	record Refused(Duration remaining, @Nullable StoredLock lock, int place) implements AcquireResult {

		/**
		 * Create the answer of a store that does not tell the place.
		 * @param remaining how long the lease of the other owner lasts
		 * @param lock its lock, or {@code null}
		 */
		public Refused(Duration remaining, @Nullable StoredLock lock) {
			this(remaining, lock, -1);
		}

	}

	/**
	 * There is no answer for one of several keys.
	 *
	 * @param failure the failure, which says whether the key may have been granted
	 * @see LockStore#acquireAll
	 */
	record Failed(StoreException failure) implements AcquireResult {

	}

}
