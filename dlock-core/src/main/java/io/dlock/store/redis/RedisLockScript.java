package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * A Lua script that is sent by its digest, and by its text when the server does not know
 * it (any more): after a restart, a failover or {@code SCRIPT FLUSH}.
 */
final class RedisLockScript {

	private final byte[] text;

	private final String sha1;

	RedisLockScript(String text) {
		this.text = text.getBytes(StandardCharsets.UTF_8);
		this.sha1 = sha1(this.text);
	}

	List<?> list(RedisConnection connection, int keys, byte[]... keysAndArgs) {
		return answered((List<?>) run(connection, ReturnType.MULTI, keys, keysAndArgs));
	}

	long number(RedisConnection connection, int keys, byte[]... keysAndArgs) {
		return answered((Long) run(connection, ReturnType.INTEGER, keys, keysAndArgs));
	}

	private @Nullable Object run(RedisConnection connection, ReturnType returnType, int keys, byte[]... keysAndArgs) {
		try {
			return connection.scriptingCommands().evalSha(this.sha1, returnType, keys, keysAndArgs);
		}
		catch (RuntimeException ex) {
			if (!"NOSCRIPT".equals(RedisErrors.serverCode(ex))) {
				throw ex;
			}
			return connection.scriptingCommands().eval(this.text, returnType, keys, keysAndArgs);
		}
	}

	/**
	 * A connection that pipelines or is in a transaction answers nothing at once.
	 */
	private static <T> T answered(@Nullable T answer) {
		if (answer == null) {
			throw new StoreException(Effect.UNKNOWN, false, "Redis gave no answer", null);
		}
		return answer;
	}

	private static String sha1(byte[] text) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1", ex);
		}
	}

}
