package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * The thread was interrupted while it waited for a lock, which it does not hold. Its
 * interrupt flag is set.
 *
 * @since 0.1
 */
public final class LockInterruptedException extends LockException {

	/**
	 * Create the exception.
	 * @param key the key
	 * @param cause the exception that the interrupt caused, or {@code null}
	 */
	public LockInterruptedException(String key, @Nullable Throwable cause) {
		super(key, "Interrupted while waiting for lock '%s'".formatted(LockRequest.abbreviate(key)), cause);
	}

}
