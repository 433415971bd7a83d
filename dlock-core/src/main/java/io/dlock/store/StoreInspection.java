package io.dlock.store;

import java.util.Optional;

/**
 * What operators ask a store and do to it. Nothing of it is needed for locks: a store
 * whose user must not look around says so and works all the same.
 *
 * @since 0.1
 * @see LockStore#inspection()
 */
public interface StoreInspection {

	/**
	 * List locks that are taken now, by the store's clock. What is kept for the first of
	 * a queue is free; what is kept after its release is not.
	 * @param limit how many at the most
	 * @return the locks in any order
	 * @throws StoreException if there is no answer, or the user of the store must not ask
	 */
	StoredLocks list(int limit);

	/**
	 * Look up who holds a key.
	 * @param storageKey the {@linkplain StorageKey storage key}
	 * @return the lock, or empty if it is free or its lease is over
	 * @throws StoreException if there is no answer
	 */
	Optional<StoredLock> findStored(String storageKey);

	/**
	 * Free a key if its lock has this token, whoever holds it, or keep it for the first
	 * of the queue and tell it, as a {@linkplain LockStore#release release} does. The
	 * last token is kept.
	 * @param storageKey the {@linkplain StorageKey storage key}
	 * @param token the token, as minted by the store
	 * @return whether it was held with this token and is free now
	 * @throws StoreException if there is no answer
	 */
	boolean forceRelease(String storageKey, long token);

	/**
	 * What the store says of itself.
	 * @return what is known; what must not be asked is a warning
	 * @throws StoreException if there is no answer
	 */
	StoreFacts diagnose();

}
