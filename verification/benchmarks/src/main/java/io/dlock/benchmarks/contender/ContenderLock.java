package io.dlock.benchmarks.contender;

/**
 * A key as one thread locks it: acquired and released in turn, by that thread.
 */
public interface ContenderLock {

	/**
	 * Wait until the lock is held.
	 * @throws InterruptedException if the thread is interrupted meanwhile
	 */
	void acquire() throws InterruptedException;

	/**
	 * Try once, without waiting.
	 * @return whether the lock is held now
	 */
	default boolean tryAcquire() {
		throw new UnsupportedOperationException("Only the contenders of the scenario of tries need it");
	}

	/**
	 * Release the lock.
	 */
	void release();

}
