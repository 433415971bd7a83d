package io.dlock.store.redis.connection;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * Reads the answers of scripts, which the clients hand out as numbers, bytes or texts.
 */
public final class RedisAnswers {

	private RedisAnswers() {
	}

	/**
	 * Check that there is an answer: a connection that pipelines or is in a transaction
	 * has none at once.
	 * @param <T> the type of the answer
	 * @param answer the answer
	 * @return the answer
	 */
	static <T> T required(@Nullable T answer) {
		if (answer == null) {
			throw missing();
		}
		return answer;
	}

	static StoreException missing() {
		return new StoreException(Effect.UNKNOWN, false, "Redis gave no answer", null);
	}

	public static long number(Object value) {
		return (value instanceof Number number) ? number.longValue() : Long.parseLong(text(value));
	}

	public static Instant instant(Object micros) {
		return Instant.EPOCH.plus(number(micros), ChronoUnit.MICROS);
	}

	public static String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(value);
	}

}
