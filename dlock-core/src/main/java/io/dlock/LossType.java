package io.dlock;

/**
 * How a lock was lost, as one of few: what metrics are tagged with.
 *
 * @since 0.1
 */
public enum LossType {

	/**
	 * Its lease ran out, because it is not renewed or no renewal was answered in time:
	 * the store failed, the network, or this process stood still.
	 */
	EXPIRED,

	/**
	 * The store refused its renewal: it had ended the lease or lost its data, or somebody
	 * has taken the lock away through another instance.
	 */
	REFUSED,

	/**
	 * It was released by force, through this instance.
	 */
	FORCED,

	/**
	 * It was held for its {@code maxHold}.
	 */
	MAX_HOLD,

	/**
	 * The application shut down while it was held.
	 */
	SHUTDOWN

}
