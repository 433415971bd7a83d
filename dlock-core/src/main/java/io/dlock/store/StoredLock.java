package io.dlock.store;

import java.time.Instant;

/**
 * A held lock as the store knows it.
 *
 * @param storageKey the key as it is stored
 * @param holder who holds it
 * @param reason why; empty if not told
 * @param since since when, by the store's clock
 * @param until when the lease ends, by the store's clock
 * @param token the fencing token, as minted by the store
 * @since 0.1
 */
public record StoredLock(String storageKey, String holder, String reason, Instant since, Instant until, long token) {

}
