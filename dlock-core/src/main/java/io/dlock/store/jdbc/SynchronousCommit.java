package io.dlock.store.jdbc;

/**
 * The level of {@code synchronous_commit} for acquires and renewals on PostgreSQL, on the
 * connections of the store's own pool: each constant says what their commits wait for. A
 * release never waits.
 *
 * @since 0.1
 * @see <a href=
 * "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT">PostgreSQL</a>
 */
public enum SynchronousCommit {

	/**
	 * {@link #ON} in the store's own pool, and the setting of the application on its
	 * connections. On any other database the only value.
	 */
	DEFAULT,

	/** For the disk of this server. */
	LOCAL,

	/** For the disk of this server and of the synchronous standbys, if there are any. */
	ON,

	/** Like {@code ON}, but for the memory of the standbys instead of their disk. */
	REMOTE_WRITE,

	/** Like {@code ON}, and until queries on the standbys see the lock. */
	REMOTE_APPLY

}
