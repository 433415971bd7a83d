package io.dlock.store;

import java.time.Duration;
import java.time.Instant;

/**
 * A lock that is taken, as the store knows it.
 *
 * @param storageKey the key as it is stored
 * @param holder the holder; for a lock that is kept, the last one
 * @param reason the reason; empty if there is none
 * @param since the time of the first acquire of the owner, by the store's clock
 * @param until when the lease ends, by the store's clock
 * @param token the fencing token, as minted by the store
 * @param age how long ago it was taken, by the store's clock
 * @param kept whether its holder has released it and it is only
 * {@linkplain LockStore#keep kept} until its end
 * @param member whether its holder is a {@linkplain LockStore#isMember member}
 * @since 0.1
 */
public record StoredLock(String storageKey, String holder, String reason, Instant since, Instant until, long token,
		Duration age, boolean kept, boolean member) {

	/**
	 * Create the lock of an exclusive owner.
	 * @param storageKey the key as it is stored
	 * @param holder the holder
	 * @param reason the reason
	 * @param since the time of the acquire
	 * @param until when the lease ends
	 * @param token the fencing token
	 * @param age how long ago it was taken
	 * @param kept whether it is only kept until its end
	 */
	public StoredLock(String storageKey, String holder, String reason, Instant since, Instant until, long token,
			Duration age, boolean kept) {
		this(storageKey, holder, reason, since, until, token, age, kept, false);
	}

}
