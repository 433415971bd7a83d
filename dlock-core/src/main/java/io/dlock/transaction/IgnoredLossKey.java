package io.dlock.transaction;

import io.dlock.LockHandle;

/**
 * The key in the Reactor context of a lock whose loss does not keep a transaction from
 * committing. Internal to the library.
 *
 * @param lock the lock
 */
public record IgnoredLossKey(LockHandle lock) {

}
