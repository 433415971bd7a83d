package io.dlock.autoconfigure;

/**
 * The store of the locks.
 *
 * @since 0.1
 */
public enum DlockBackend {

	/**
	 * Redis, through the application's {@code RedisConnectionFactory}.
	 */
	REDIS,

	/**
	 * A database, through the application's {@code DataSource}.
	 */
	JDBC,

	/**
	 * A majority of several independent Redis servers, those of {@code dlock.quorum}.
	 */
	QUORUM,

	/**
	 * This process only: excludes nothing in other instances.
	 */
	MEMORY

}
