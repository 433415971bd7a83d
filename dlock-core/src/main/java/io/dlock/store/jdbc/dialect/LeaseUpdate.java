package io.dlock.store.jdbc.dialect;

import java.time.Duration;

/**
 * The new lease of a key for its owner.
 *
 * @param holding the key and its owner
 * @param micros its length, counted from the time of the statement
 */
public record LeaseUpdate(Holding holding, long micros) {

	/**
	 * Create a lease.
	 * @param holding the key and its owner
	 * @param lease its length
	 * @return the lease
	 */
	public static LeaseUpdate of(Holding holding, Duration lease) {
		return new LeaseUpdate(holding, LockSqlParameters.micros(lease));
	}

	/**
	 * The key.
	 * @return the storage key
	 */
	public String key() {
		return this.holding.key();
	}

	/**
	 * The owner.
	 * @return the owner
	 */
	public String owner() {
		return this.holding.owner();
	}

	/**
	 * A key and its owner.
	 *
	 * @param key the storage key
	 * @param owner the owner
	 */
	public record Holding(String key, String owner) {

	}

}
