package io.dlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Another caller holds the lock, in this process or according to the store, and did not
 * release it within the wait time. This is not a failure: try again later.
 *
 * @since 0.1
 */
public final class LockBusyException extends LockException {

	private final Duration waited;

	/**
	 * Create the exception.
	 * @param key the key
	 * @param waited how long the caller waited
	 * @param holder the name of the holder, or {@code null} if unknown
	 */
	public LockBusyException(String key, Duration waited, @Nullable String holder) {
		super(key, message(key, waited, holder), null);
		this.waited = waited;
	}

	/**
	 * How long the caller waited.
	 * @return the time from the request to this exception
	 */
	public Duration waited() {
		return this.waited;
	}

	private static String message(String key, Duration waited, @Nullable String holder) {
		return "Lock '%s' is busy%s; waited %d ms. Try again later or raise the wait time"
			.formatted(LockRequest.abbreviate(key), (holder != null) ? ": held by " + holder : "", waited.toMillis());
	}

}
