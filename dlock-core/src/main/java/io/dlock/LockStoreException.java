package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, so that nothing can be said about the lock: it is neither acquired
 * nor busy. Retry when the store is back, or check its configuration.
 *
 * @since 0.1
 */
public sealed class LockStoreException extends LockException permits LockCongestedException {

	/**
	 * Create the exception.
	 * @param key the key
	 * @param operation what was asked of the store
	 * @param consequence what it means for the lock
	 * @param cause what the store or its driver said
	 */
	public LockStoreException(String key, String operation, String consequence, @Nullable Throwable cause) {
		super(key,
				"The lock store failed to %s lock '%s'%s. %s".formatted(operation, LockRequest.abbreviate(key),
						(cause != null && cause.getMessage() != null) ? ": " + cause.getMessage() : "", consequence),
				cause);
	}

	/**
	 * Whether the store itself fails, so that a caller who prefers to do its work twice
	 * to not doing it may go on without the lock, as {@link OnStoreFailure#PROCEED} does.
	 * @return {@code false} if the store works and was only not asked in time
	 */
	public boolean isOutage() {
		return true;
	}

}
