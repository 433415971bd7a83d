package io.dlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The store has failed over or restarted, and grants no lock until all leases that it may
 * have forgotten have expired. The lock may be held: {@link OnStoreFailure#PROCEED} does
 * not run a method without its lock. Try again after {@link #remaining()}, or allow more
 * wait time.
 *
 * @since 0.1
 */
public final class LockQuarantinedException extends LockStoreException {

	private final Duration remaining;

	/**
	 * Create the exception.
	 * @param key the key
	 * @param remaining how long the store grants no lock
	 * @param consequence the consequence for the lock
	 * @param cause the answer of the store
	 */
	public LockQuarantinedException(String key, Duration remaining, String consequence, @Nullable Throwable cause) {
		super(key, "acquire", consequence, cause);
		this.remaining = remaining;
	}

	/**
	 * How long the store grants no lock, according to its last answer.
	 * @return the time, counted from that answer
	 */
	public Duration remaining() {
		return this.remaining;
	}

	@Override
	public boolean isOutage() {
		return false;
	}

}
