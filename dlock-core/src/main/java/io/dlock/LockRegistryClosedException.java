package io.dlock;

/**
 * The registry is shutting down and grants no more locks.
 *
 * @since 0.1
 */
public final class LockRegistryClosedException extends LockException {

	/**
	 * Create the exception.
	 * @param key the key
	 */
	public LockRegistryClosedException(String key) {
		super(key,
				"Lock '%s' cannot be acquired: the application is shutting down".formatted(LockRequest.abbreviate(key)),
				null);
	}

}
