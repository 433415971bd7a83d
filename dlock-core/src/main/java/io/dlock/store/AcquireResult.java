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
	 * @param awaited whether an exclusive request waits in the queue of the key, told to
	 * a {@linkplain LockStore#isMember member}: its process should let no other caller
	 * share this membership; always {@code false} for an exclusive owner
	 */
	record Granted(long token, boolean awaited) implements AcquireResult {

		/**
		 * Create the answer to an exclusive owner, or to a member for which no request
		 * waits.
		 * @param token the fencing token
		 */
		public Granted(long token) {
			this(token, false);
		}

	}

	/**
	 * Another owner holds the key.
	 *
	 * @param remaining how long its lease lasts unless it is renewed or released
	 * @param lock the lock of that owner, for people, or {@code null} if it has been
	 * released by now, is only kept, or this store does not tell
	 * @param place how many entries of the queue come before that of the caller, or all
	 * entries if it has none; 0 for the next one, and -1 if this store does not tell. A
	 * process polls the more slowly the more entries come before its own
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
	 * @param failure the failure, which tells whether the key can have been granted
	 * @see LockStore#acquireAll
	 */
	record Failed(StoreException failure) implements AcquireResult {

	}

}
