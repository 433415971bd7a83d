package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, so that the state of the lock is unknown: it is neither acquired nor
 * busy. Retry when the store is back, or check its configuration.
 *
 * @since 0.1
 */
public sealed class LockStoreException extends LockException permits LockCongestedException, LockQuarantinedException {

	/**
	 * Create the exception.
	 * @param key the key
	 * @param operation the operation that failed
	 * @param consequence the consequence for the lock
	 * @param cause the failure of the store or its driver
	 */
	public LockStoreException(String key, String operation, String consequence, @Nullable Throwable cause) {
		super(key,
				"The lock store failed to %s lock '%s'%s. %s".formatted(operation, LockRequest.abbreviate(key),
						(cause != null && cause.getMessage() != null) ? ": " + cause.getMessage() : "", consequence),
				cause);
	}

	/**
	 * Whether the store itself fails. If so, a caller that would rather do its work twice
	 * than not at all can go on without the lock, as {@link OnStoreFailure#PROCEED} does.
	 * @return {@code false} if the store works, but this process was too slow, or the
	 * store is in quarantine
	 */
	public boolean isOutage() {
		return true;
	}

}
