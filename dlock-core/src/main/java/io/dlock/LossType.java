package io.dlock;

/**
 * The type of a loss, for tags of metrics.
 *
 * @since 0.1
 */
public enum LossType {

	/**
	 * The lease ran out, because it is not renewed or no renewal was answered in time:
	 * the store or the network failed, or this process was paused.
	 */
	EXPIRED,

	/**
	 * The store refused the renewal: it had ended the lease or lost its data, or the lock
	 * was released by force through another instance.
	 */
	REFUSED,

	/**
	 * The lock was released by force through this instance.
	 */
	FORCED,

	/**
	 * The lock was held for its {@code maxHold}.
	 */
	MAX_HOLD,

	/**
	 * The application shut down while the lock was held.
	 */
	SHUTDOWN

}
