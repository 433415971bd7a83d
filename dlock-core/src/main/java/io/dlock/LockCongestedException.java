package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * This process asks for more locks at once than its connections to the store can carry,
 * so that the store was not asked in time. The store itself works, and others may hold
 * the lock: {@link OnStoreFailure#PROCEED} does not run a method without its lock. Allow
 * more wait time, or more connections.
 *
 * @since 0.1
 */
public final class LockCongestedException extends LockStoreException {

	/**
	 * Create the exception.
	 * @param key the key
	 * @param operation the operation that the store was not asked for
	 * @param consequence the consequence for the lock
	 * @param cause the failure of the wait
	 */
	public LockCongestedException(String key, String operation, String consequence, @Nullable Throwable cause) {
		super(key, operation, consequence, cause);
	}

	@Override
	public boolean isOutage() {
		return false;
	}

}
