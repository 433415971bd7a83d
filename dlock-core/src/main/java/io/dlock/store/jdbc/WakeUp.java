package io.dlock.store.jdbc;

/**
 * How waiting processes learn that a lock of a database is released.
 *
 * @since 0.1
 */
public enum WakeUp {

	/**
	 * The database notifies the process whose turn it is, on a connection of its own. For
	 * PostgreSQL, with a pool of the store's own.
	 */
	NOTIFY,

	/**
	 * Each process looks at all locks that it waits for with one query, again and again
	 * while it waits. Releases notify no process, also none of those that listen.
	 */
	POLL

}
