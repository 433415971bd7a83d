package io.dlock.store.jdbc;

import io.dlock.store.RenewResult;

/**
 * A lease to start anew.
 *
 * @param holding the key and its owner
 * @param micros how long from now
 */
record DueLease(Holding holding, long micros) {

	String key() {
		return this.holding.key();
	}

	String owner() {
		return this.holding.owner();
	}

	/**
	 * A key and its owner.
	 *
	 * @param key the storage key
	 * @param owner the owner
	 */
	record Holding(String key, String owner) {

	}

	/**
	 * Takes the answers of a dialect. Leases without one could not be decided at once.
	 */
	@FunctionalInterface
	interface Answers {

		void answer(Holding holding, RenewResult result);

	}

}
