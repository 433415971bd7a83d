package io.dlock.console;

import java.util.List;
import java.util.Optional;

import io.dlock.LockInfo;
import io.dlock.LockStoreException;

/**
 * The operator's view of the locks, for people and diagnostics. An answer may be out of
 * date when it arrives: programs must not base decisions on it.
 * <p>
 * <strong>Keys</strong> are shown as they are stored: characters other than letters,
 * digits and {@code ._:/@#=+,;-} as {@code %XX}, long keys shortened and hashed. The
 * methods that take a key take it as it is shown. A text that cannot be a stored key is
 * read as the key of the application.
 *
 * @since 0.1
 */
public interface LockConsole {

	/**
	 * The locks that this process holds and the requests that wait. Does not call the
	 * store.
	 * @return the locks and requests
	 */
	LocalLocks local();

	/**
	 * The locks that any process holds, according to the store. On Redis, the keys of the
	 * database are scanned for as long as one command may take; on a database, the whole
	 * table is read. Only one list is made at a time: a caller that waits for another
	 * list for longer than a command timeout gets none.
	 * @param limit the maximum number of locks, from 1 to 10,000
	 * @return the locks, or the problem if there is no list; a failure of the store is
	 * not an exception
	 */
	LockList list(int limit);

	/**
	 * Look up the holder of a key.
	 * @param key the key as it is shown
	 * @return the current holder according to the store, or empty if the key is free
	 * @throws LockStoreException if the store failed
	 */
	Optional<LockInfo> find(String key);

	/**
	 * Look up all holders of a key: a shared lock and the permits of a limit may have
	 * several.
	 * @param key the key as it is shown
	 * @return the current holders according to the store, none if the key is free
	 * @throws LockStoreException if the store failed
	 */
	default List<LockInfo> findAll(String key) {
		return find(key).stream().toList();
	}

	/**
	 * Take a lock away from its holder. The next request that waits gets it. A holder in
	 * this process learns of the loss at once. Any other holder learns of it when its
	 * next renewal is refused, up to a third of its lease later, or at the end of a lease
	 * that is not renewed. <strong>Until then two holders work at the same time</strong>,
	 * and even longer if the first one does not check its lock: only a fence stops its
	 * writes.
	 * <p>
	 * The token identifies the lock, so that a later holder does not lose it. Threads of
	 * one process that pass a lock to each other without a call to the store share that
	 * lock: the token of any of them is accepted.
	 * @param key the key as it is shown
	 * @param token the fencing token of the holder
	 * @return the outcome
	 * @throws LockStoreException if the store failed; the lock may have been released
	 * @throws UnsupportedOperationException if the store does not support this
	 */
	ForcedRelease forceRelease(String key, long token);

	/**
	 * Take all locks away from an instance that is dead or unreachable:
	 * {@link #forceRelease} for each of its locks among those that {@link #list} finds,
	 * at most 10,000 of the store. Locks of other instances, locks that are kept after
	 * their release, and locks that the instance takes meanwhile stay as they are.
	 * <strong>If the instance still works, two holders work at the same time.</strong>
	 * @param instance the name of the instance, the {@linkplain LockInfo#instance()
	 * beginning} of the holder of its locks
	 * @return the released locks, whether they are all, and otherwise the problem; a
	 * failure of the store ends the operation and is not an exception
	 * @throws IllegalArgumentException if the name is blank
	 */
	LockList forceReleaseAll(String instance);

	/**
	 * Check the store: take a lock on a key that the library reserves, release it, and
	 * diagnose the server. Takes up to three command timeouts.
	 * @return the result; a failure of the store is not an exception
	 */
	StoreReport check();

}
