package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * Root of what can happen to a lock. The subclasses are typed by what a caller can do.
 *
 * @since 0.1
 */
public abstract class LockException extends RuntimeException {

	private final String key;

	LockException(String key, String message, @Nullable Throwable cause) {
		// the message of a store may quote text of an application
		super(LockRequest.printable(message), cause);
		this.key = key;
	}

	/**
	 * The key of the lock.
	 * @return the key as it was requested
	 */
	public final String key() {
		return this.key;
	}

}
