package io.dlock.torture.client;

import java.time.Duration;

/**
 * A call to acquire a lock.
 *
 * @param key what to lock
 * @param lease how long it is held without renewal
 * @param waitTime how long to wait for it
 * @param renew whether to renew it
 * @param async whether to ask for a future and to wait for that
 * @param places how many calls may hold the key at the same time: 1 for an exclusive lock
 * @param fair whether the calls of all processes are served in their order
 */
record LockCall(String key, Duration lease, Duration waitTime, boolean renew, boolean async, int places, boolean fair) {

	/** The places of a shared lock. */
	static final int SHARED = Integer.MAX_VALUE;

	LockCall(String key, Duration lease, Duration waitTime, boolean renew, boolean async) {
		this(key, lease, waitTime, renew, async, 1, false);
	}

	/**
	 * The call that turns this exclusive lock into a shared one.
	 */
	LockCall downgrade() {
		return new LockCall(this.key, this.lease, Duration.ZERO, this.renew, false, SHARED, false);
	}

}
