package io.dlock;

/**
 * The moment at which {@link LockHandle#release()} returns.
 *
 * @since 0.1
 */
public enum ReleaseMode {

	/**
	 * Return when the store has released the lock, or failed to. The next process can
	 * have the lock at once.
	 */
	SYNC,

	/**
	 * Return before the store has answered, on a store to which a release can be sent
	 * without a waiting thread: Redis with Lettuce. On every other store a release is
	 * {@link #SYNC}. Saves the caller a round trip. The price: other processes see the
	 * lock as held for a moment longer, so that they may find it busy although
	 * {@code release()} has returned; and if this process is killed in that moment, the
	 * lock is held until its lease ends.
	 */
	ASYNC

}
