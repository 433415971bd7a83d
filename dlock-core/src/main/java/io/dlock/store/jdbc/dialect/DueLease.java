package io.dlock.store.jdbc.dialect;

import java.time.Duration;

import io.dlock.store.RenewResult;

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

	/**
	 * Takes the answers of a dialect. Leases without one could not be decided at once.
	 */
	@FunctionalInterface
	public interface Answers {

		/**
		 * Take an answer.
		 * @param holding the key and its owner
		 * @param result the answer
		 */
		void answer(Holding holding, RenewResult result);

	}

}
