package io.dlock.torture.client;

import io.dlock.torture.history.Event;

/**
 * A lock that is held, as far as its contender knows. A question for which a contender
 * has no answer is answered as its users have to believe it.
 */
interface Holding {

	/**
	 * The fencing token.
	 * @return the token, 0 if there is none
	 */
	default long token() {
		return 0;
	}

	/**
	 * Whether the lock is held.
	 * @return whether the contender says so
	 */
	boolean isValid();

	/**
	 * Whether the assertion that the lock is held says something else than the question
	 * did just before.
	 * @param valid the answer to the question
	 * @return whether both cannot be true; a lock may be lost in between, and is not held
	 * again
	 */
	default boolean isContradicted(boolean valid) {
		return false;
	}

	/**
	 * How long it is held for certain.
	 * @return the time, 0 if the contender does not say
	 */
	default long remainingNanos() {
		return 0;
	}

	/**
	 * Be told when the lock is lost.
	 * @param listener is told
	 */
	default void onLost(Runnable listener) {
	}

	/**
	 * Turn an exclusive lock into a shared one. Afterwards this one is not held any more.
	 * @return the shared lock, or {@link Event#RELEASED_LOST} if the lock was lost before
	 */
	default Outcome downgrade() {
		throw new UnsupportedOperationException("There are no shared locks");
	}

	/**
	 * Release the lock.
	 * @return {@link Event#RELEASED}, {@link Event#RELEASED_LOST} or
	 * {@link Event#RELEASE_FAILED}
	 */
	Event release();

}
