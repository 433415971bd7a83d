package io.dlock;

import java.util.Optional;

/**
 * What an operator sees of the locks and may do to them. For people and diagnostics: each
 * answer is out of date when it arrives, and no ground for a program to act on.
 * <p>
 * <strong>Keys</strong> are shown as they are stored: characters other than letters,
 * digits and {@code ._:/@#=+,;-} as {@code %XX}, long keys shortened and hashed. The
 * methods that take a key take it as it is shown. A text that can not be a stored key is
 * taken for the user's key.
 *
 * @since 0.1
 */
public interface LockConsole {

	/**
	 * What this process holds and waits for. Asks the store nothing.
	 * @return the locks and the requests that wait
	 */
	LocalLocks local();

	/**
	 * The locks that are held, by any process, as the store knows them. On Redis it is
	 * looked for them among all keys of the database, for as long as one command may
	 * take; on a database the whole table is read. One list is made at a time; who waits
	 * for that of somebody else for longer than a command may take gets none.
	 * @param limit how many locks to list at the most, from 1 to 10,000
	 * @return the locks, or why there are none to see; a failure of the store is not an
	 * exception
	 */
	LockList list(int limit);

	/**
	 * Look up who holds a key.
	 * @param key the key as it is shown
	 * @return the current holder as the store knows it, or empty if the key is free
	 * @throws LockStoreException if the store failed
	 */
	Optional<LockInfo> find(String key);

	/**
	 * Take a lock away from its holder. The next who waits gets it. The holder gets to
	 * know at once if it is in this process, otherwise when its next renewal is refused,
	 * a third of its lease later at the most; one that is not renewed at the end of its
	 * lease. <strong>Until then two holders work at the same time</strong>, and also
	 * after that if the first one does not look at its lock: only a fence stops its
	 * writes.
	 * <p>
	 * The token says which lock is meant, so that it is not taken away from somebody who
	 * has just got it. Threads of one process that pass a lock to each other without
	 * telling the store have the same lock as long as they do so: the token of any of
	 * them will do.
	 * @param key the key as it is shown
	 * @param token the fencing token of its holder
	 * @return whether it was released
	 * @throws LockStoreException if the store failed; whether the lock was released is
	 * not known then
	 * @throws UnsupportedOperationException if this store can not
	 */
	ForcedRelease forceRelease(String key, long token);

	/**
	 * Check the way of a lock: take one on a key of the library's own and release it, and
	 * ask the store what it says of itself. Takes three command timeouts at the most.
	 * @return what was found; a failure of the store is not an exception
	 */
	StoreReport check();

}
