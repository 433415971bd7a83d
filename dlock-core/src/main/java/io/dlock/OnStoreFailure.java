package io.dlock;

/**
 * What a {@link DistributedLocked} method does when its lock can not be acquired because
 * the store fails: nobody knows then whether somebody else holds the lock.
 * <p>
 * There is no way to skip the method silently, as there is for a busy lock: a busy lock
 * means that somebody does the work, a failed store that perhaps nobody does.
 *
 * @since 0.1
 */
public enum OnStoreFailure {

	/**
	 * What {@code dlock.on-store-failure} says: {@link #THROW} unless it is set.
	 */
	DEFAULT,

	/**
	 * Throw {@link LockStoreException}; the method does not run.
	 */
	THROW,

	/**
	 * Run the method <strong>without its lock</strong>, at the same time as others: for
	 * methods for which doing nothing is worse than doing it twice. The call first waits
	 * for the store, for the wait time. A {@link LockCongestedException} is thrown all
	 * the same: this process was too busy to ask, and others may hold the lock. There is
	 * no {@link LockHandle#current()} of this lock in the method. A warning names the
	 * method, at most once a minute, and {@link LockEvent.StoreFailed#failOpen()} tells
	 * the listeners of each call.
	 */
	PROCEED,

	/**
	 * Call the {@link DistributedLocked#fallback() fallback}, as when the lock is busy.
	 */
	FALLBACK

}
