package io.dlock.store.redis.connection;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;

/**
 * The server ran the script, but its acknowledgement is missing.
 */
public final class RedisUnacknowledgedException extends StoreException {

	RedisUnacknowledgedException(String message) {
		this(message, false, null);
	}

	private RedisUnacknowledgedException(String message, boolean permanent, @Nullable Throwable cause) {
		super(Effect.UNKNOWN, permanent, message, cause);
	}

	/**
	 * There is no answer to the command that waits for the acknowledgement.
	 * @param command the name of the command
	 * @param ex the exception of the client
	 * @return the exception, permanent if the server refuses the command
	 */
	static RedisUnacknowledgedException unanswered(String command, RuntimeException ex) {
		StoreException failure = RedisErrors.translate(command, ex);
		return new RedisUnacknowledgedException(String.valueOf(failure.getMessage()), failure.isPermanent(), ex);
	}

	/**
	 * The slot of the lock has moved to another node, which ran the script.
	 */
	static RedisUnacknowledgedException moved() {
		return new RedisUnacknowledgedException(
				"The lock has just moved to another node of the cluster, which was not asked for its acknowledgement");
	}

}
