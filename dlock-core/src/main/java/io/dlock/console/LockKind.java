package io.dlock.console;

import io.dlock.LockInfo;
import io.dlock.PermitRegistry;

/**
 * The kinds of locks, as operators see them.
 *
 * @since 0.1
 */
public enum LockKind {

	/**
	 * A lock with one holder.
	 */
	EXCLUSIVE,

	/**
	 * A lock that several readers hold.
	 */
	SHARED,

	/**
	 * One of the permits of a limit.
	 */
	PERMIT;

	/**
	 * The kind of a lock in the store.
	 * @param lock the lock
	 * @return its kind
	 */
	public static LockKind of(LockInfo lock) {
		if (!lock.shared()) {
			return EXCLUSIVE;
		}
		return lock.key().startsWith(PermitRegistry.PERMIT_PREFIX) ? PERMIT : SHARED;
	}

}
