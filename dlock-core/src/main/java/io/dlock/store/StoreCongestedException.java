package io.dlock.store;

import org.jspecify.annotations.Nullable;

/**
 * This process is too slow: it sends more commands at once than its connections can
 * carry, so that the command was not sent, or not to as many servers as are needed; or
 * other processes overtook it again and again. The store itself answers.
 *
 * @since 0.1
 */
public final class StoreCongestedException extends StoreException {

	/**
	 * Create the exception.
	 * @param message the missing resource, and the duration of the wait for it
	 * @param cause the exception of the driver or of the pool, or {@code null}
	 */
	public StoreCongestedException(String message, @Nullable Throwable cause) {
		super(Effect.NONE, false, message, cause);
	}

	/**
	 * Create the exception for a command that the store may have executed in part.
	 * @param effect whether the command may have been executed
	 * @param message the missing resource, and the duration of the wait for it
	 * @param cause the exception of the driver or of the pool, or {@code null}
	 */
	public StoreCongestedException(Effect effect, String message, @Nullable Throwable cause) {
		super(effect, false, message, cause);
	}

	@Override
	public boolean isOutage() {
		return false;
	}

}
