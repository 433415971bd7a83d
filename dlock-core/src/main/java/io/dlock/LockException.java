package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * Base class of the exceptions of locks. There is a subclass for each way in which a
 * caller can react.
 *
 * @since 0.1
 */
public abstract class LockException extends RuntimeException {

	private final String key;

	LockException(String key, String message, @Nullable Throwable cause) {
		// the message of a store may quote user input
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
