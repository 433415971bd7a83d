package io.dlock.aop;

import io.dlock.LockHandle;

/**
 * Where the Reactor context says that a transaction may commit although this lock is
 * lost.
 *
 * @param lock the lock
 */
record ExemptLock(LockHandle lock) {

}
