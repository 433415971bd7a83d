package io.dlock.autoconfigure;

/**
 * Where the locks are.
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
	 * This process only: excludes nothing in other instances.
	 */
	MEMORY

}
