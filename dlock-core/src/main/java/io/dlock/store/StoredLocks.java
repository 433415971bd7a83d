package io.dlock.store;

import java.util.List;

/**
 * Locks as they are in a store.
 *
 * @param locks the locks
 * @param complete whether these are all that are held
 * @since 0.1
 */
public record StoredLocks(List<StoredLock> locks, boolean complete) {

	public StoredLocks {
		locks = List.copyOf(locks);
	}

	/**
	 * Create the list from what a store has found, which is one more than asked for if
	 * there are more.
	 * @param found the locks
	 * @param limit how many were asked for
	 * @return the list
	 */
	public static StoredLocks of(List<StoredLock> found, int limit) {
		return (found.size() > limit) ? new StoredLocks(found.subList(0, limit), false) : new StoredLocks(found, true);
	}

}
