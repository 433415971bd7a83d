package io.dlock;

/**
 * The reaction of a {@link DistributedLocked} method to a failure of the store, which
 * leaves open whether another caller holds the lock.
 * <p>
 * The method is never skipped silently, as it can be for a busy lock: a busy lock means
 * that another caller does the work, which is unknown while the store fails.
 *
 * @since 0.1
 */
public enum OnStoreFailure {

	/**
	 * As {@code dlock.on-store-failure} says, by default {@link #THROW}.
	 */
	DEFAULT,

	/**
	 * Throw {@link LockStoreException}; the method does not run.
	 */
	THROW,

	/**
	 * Run the method <strong>without its lock</strong>, possibly at the same time as
	 * others: for methods for which a second run is better than none. The call first
	 * waits for the store, for the wait time. A {@link LockCongestedException} or a
	 * {@link LockQuarantinedException} is thrown nevertheless: the store works, so that
	 * others may hold the lock. {@link LockHandle#current()} does not contain this lock
	 * in the method. A warning names the method, at most once a minute, and listeners see
	 * {@link LockEvent.StoreFailed#failOpen()} for each call.
	 */
	PROCEED,

	/**
	 * Call the {@link DistributedLocked#fallback() fallback}, as when the lock is busy.
	 */
	FALLBACK

}
