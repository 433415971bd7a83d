package io.dlock.store.jdbc.dialect;

import java.time.Duration;

/**
 * A lease to start anew.
 *
 * @param holding the key and its owner
 * @param micros how long from now
 */
public record DueLease(Holding holding, long micros) {

	/**
	 * Create a lease.
	 * @param holding the key and its owner
	 * @param lease how long from now
	 * @return the lease
	 */
	public static DueLease of(Holding holding, Duration lease) {
		return new DueLease(holding, LockSqlParameters.micros(lease));
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
