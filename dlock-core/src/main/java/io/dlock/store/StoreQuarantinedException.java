package io.dlock.store;

import java.time.Duration;

/**
 * The store answers, but grants no lock for a while: it has failed over or restarted, and
 * may have forgotten locks that are still valid. Known locks are renewed and released as
 * usual.
 *
 * @since 0.1
 * @see Quarantine
 */
public final class StoreQuarantinedException extends StoreException {

	private final Duration remaining;

	/**
	 * Create the exception.
	 * @param remaining how long the store grants no lock, by its clock
	 */
	public StoreQuarantinedException(Duration remaining) {
		super(Effect.NONE, false,
				"The store has failed over or restarted, and grants no lock for another %d ms, until all leases that it may have forgotten have expired"
					.formatted(remaining.toMillis()),
				null);
		this.remaining = remaining;
	}

	/**
	 * How long the store grants no lock.
	 * @return the time, counted from the answer
	 */
	public Duration remaining() {
		return this.remaining;
	}

	@Override
	public boolean isOutage() {
		return false;
	}

}
