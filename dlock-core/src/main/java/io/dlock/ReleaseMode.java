package io.dlock;

/**
 * When {@link LockHandle#release()} returns.
 *
 * @since 0.1
 */
public enum ReleaseMode {

	/**
	 * When the store has released the lock, or failed to. The next process can have the
	 * lock at once.
	 */
	SYNC,

	/**
	 * Before the store is asked, which another thread does right away. Saves the caller a
	 * round trip. The price: other processes see the lock as held for a moment longer, so
	 * that one that does not wait may find it busy although {@code release()} has
	 * returned; and if this process is killed in that moment, the lock is held until its
	 * lease ends. If very many releases are outstanding, {@code release()} waits for its
	 * own.
	 */
	ASYNC

}
