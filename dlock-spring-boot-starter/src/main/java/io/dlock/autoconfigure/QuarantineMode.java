package io.dlock.autoconfigure;

/**
 * The behavior of a store after a failover.
 *
 * @since 0.1
 */
public enum QuarantineMode {

	/** It grants locks at once, also those that it has forgotten. */
	OFF,

	/** It grants no lock until the longest lease that it may have forgotten is over. */
	LEASE

}
