package io.dlock.store;

import java.util.List;

/**
 * Locks as they are in a store.
 *
 * @param locks the locks
 * @param complete whether these are all locks
 * @since 0.1
 */
public record StoredLocks(List<StoredLock> locks, boolean complete) {

	public StoredLocks {
		locks = List.copyOf(locks);
	}

	/**
	 * Create the list from the locks that a store has found: one more than the limit if
	 * the list is not complete.
	 * @param found the locks
	 * @param limit the largest number of locks
	 * @return the list
	 */
	public static StoredLocks of(List<StoredLock> found, int limit) {
		return (found.size() > limit) ? new StoredLocks(found.subList(0, limit), false) : new StoredLocks(found, true);
	}

}
