package io.dlock;

/**
 * How a lock excludes others.
 *
 * @since 0.1
 */
public enum LockMode {

	/**
	 * One holder at a time.
	 */
	EXCLUSIVE,

	/**
	 * Any number of shared holders at a time, and no exclusive one. For work that reads
	 * what an exclusive holder of the same key changes.
	 */
	SHARED

}
