package io.dlock.transaction;

import io.dlock.LockHandle;

/**
 * Where the Reactor context says that a transaction may commit although this lock is
 * lost.
 *
 * @param lock the lock
 */
public record IgnoredLossKey(LockHandle lock) {

}
