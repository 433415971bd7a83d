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
 */
record LockCall(String key, Duration lease, Duration waitTime, boolean renew, boolean async) {

}
