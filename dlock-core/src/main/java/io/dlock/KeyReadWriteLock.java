package io.dlock;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * Two views of a key.
 *
 * @param readLock the shared view
 * @param writeLock the exclusive view
 */
record KeyReadWriteLock(Lock readLock, Lock writeLock) implements ReadWriteLock {

}
