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
	 * Another owner holds the key.
	 *
	 * @param remaining how long the lease of that owner lasts unless it is renewed or
	 * released
	 * @param lock the lock of that owner, for people, or {@code null} if it has been
	 * released by now, is only kept, or this store does not tell
	 * @param place the number of entries in the queue before that of the caller, or of
	 * all entries if the caller has none; 0 if the caller is next, and -1 if this store
	 * does not tell. The more entries come before its own, the more slowly a process
	 * polls
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
