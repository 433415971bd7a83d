package io.dlock.store;

import java.util.List;
import java.util.Optional;

/**
 * The operations of a store for operators. Locks need none of them: a store works even if
 * its user lacks the rights for them.
 *
 * @since 0.1
 * @see LockStore#inspection()
 */
public interface StoreInspection {

	/**
	 * List the locks that are taken now, by the clock of the store. A lock that is
	 * reserved for a waiting process is free; a lock that is kept after its release is
	 * not.
	 * @param limit the largest number of locks
	 * @return the locks in any order
	 * @throws StoreException if there is no answer, or the user of the store lacks the
	 * right
	 */
	StoredLocks list(int limit);

	/**
	 * Look up the holder of a key, or one of its members, as {@link LockStore#find} does.
	 * @param storageKey the {@linkplain StorageKey storage key}
	 * @return the lock, or empty if it is free or its lease is over
	 * @throws StoreException if there is no answer
	 */
	Optional<StoredLock> findStored(String storageKey);

	/**
	 * Look up all holders of a key.
	 * @param storageKey the {@linkplain StorageKey storage key}
	 * @return the lock, or the locks of all members; empty if the key is free or every
	 * lease is over
	 * @throws StoreException if there is no answer
	 */
	default List<StoredLock> findAll(String storageKey) {
		return findStored(storageKey).stream().toList();
	}

	/**
	 * Release the lock of a key if it has this token, whatever its owner, as a
	 * {@linkplain LockStore#release release} does. The last token is kept.
	 * @param storageKey the {@linkplain StorageKey storage key}
	 * @param token the token, as minted by the store
	 * @return whether it was held with this token and is free or reserved now;
	 * {@code false} if its lease is over
	 * @throws StoreException if there is no answer
	 */
	boolean forceRelease(String storageKey, long token);

	/**
	 * The facts that the store reports about itself.
	 * @return the known facts; a missing right is a warning
	 * @throws StoreException if there is no answer
	 */
	StoreFacts diagnose();

}
