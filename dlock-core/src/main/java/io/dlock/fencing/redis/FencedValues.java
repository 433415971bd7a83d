package io.dlock.fencing.redis;

import java.util.List;
import java.util.Optional;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.dlock.LockHandle;
import io.dlock.fencing.StaleTokenException;

/**
 * Values in Redis that a holder that has lost its lock without knowing it can not
 * overwrite:
 *
 * <pre class="code">
 * &#64;DistributedLocked(name = "report", key = "#day")
 * public void create(String day) {
 *     ...
 *     this.fencedValues.set("report:" + day, text);
 * }
 * </pre>
 *
 * A value is written with the {@linkplain LockHandle#token() fencing token} of its
 * writer, and only if no higher one has been written before, in one step. Both are fields
 * of one hash, {@code value} and {@code token}, so that this works in a cluster as well.
 * The local validity of the lock is not asked for: Redis alone decides.
 * <p>
 * Rules: all writers of a key use this class, with tokens of one and the same lock key.
 * Nothing else removes the key or lets it expire, as long as a stale holder may be
 * around. What Redis forgets, in a failover or by eviction, is not fenced any more.
 *
 * @since 0.1
 */
public final class FencedValues {

	private static final String WRITTEN = "written";

	/**
	 * Tokens are text here: the numbers of Lua are exact up to 2^53 only. Without a value
	 * the hash keeps the token.
	 */
	private static final RedisScript<String> WRITE = RedisScript.of("""
			local newest = redis.call('HGET', KEYS[1], 'token')
			if newest and (#newest > #ARGV[1] or (#newest == #ARGV[1] and newest > ARGV[1])) then
				return newest
			end
			redis.call('HSET', KEYS[1], 'token', ARGV[1])
			if ARGV[2] then
				redis.call('HSET', KEYS[1], 'value', ARGV[2])
			else
				redis.call('HDEL', KEYS[1], 'value')
			end
			return 'written'
			""", String.class);

	private final StringRedisTemplate redis;

	/**
	 * Create the values. Nothing is opened before the first use.
	 * @param connectionFactory the connections of the application
	 */
	public FencedValues(RedisConnectionFactory connectionFactory) {
		this.redis = new StringRedisTemplate(connectionFactory);
	}

	/**
	 * Write a value with the token of the current lock.
	 * @param key the Redis key, used as it is
	 * @param value the value
	 * @throws StaleTokenException if a later holder has written; nothing was written
	 * @throws IllegalStateException if the calling thread holds no lock
	 * @see LockHandle#current()
	 */
	public void set(String key, String value) {
		set(key, value, currentToken());
	}

	/**
	 * Write a value with a token: that of a lock that belongs to no thread, or that
	 * another service holds and has sent along.
	 * @param key the Redis key, used as it is
	 * @param value the value
	 * @param token the fencing token, positive
	 * @throws StaleTokenException if a later holder has written; nothing was written
	 */
	@SuppressWarnings("NullAway") // for callers that are not null-checked
	public void set(String key, String value, long token) {
		if (value == null) {
			throw new IllegalArgumentException("'value' must not be null. To remove the value, delete it");
		}
		write(key, token, Long.toString(token), value);
	}

	/**
	 * Remove a value with the token of the current lock. The token stays in Redis.
	 * @param key the Redis key, used as it is
	 * @throws StaleTokenException if a later holder has written; nothing was removed
	 * @throws IllegalStateException if the calling thread holds no lock
	 * @see LockHandle#current()
	 */
	public void delete(String key) {
		delete(key, currentToken());
	}

	/**
	 * Remove a value with a token. The token stays in Redis.
	 * @param key the Redis key, used as it is
	 * @param token the fencing token, positive
	 * @throws StaleTokenException if a later holder has written; nothing was removed
	 */
	public void delete(String key, long token) {
		write(key, token, Long.toString(token));
	}

	/**
	 * Read a value. Anybody may.
	 * @param key the Redis key, used as it is
	 * @return the value, or empty if there is none
	 */
	public Optional<String> get(String key) {
		checkKey(key);
		return Optional.ofNullable(this.redis.<String, String>opsForHash().get(key, "value"));
	}

	private void write(String key, long token, Object... arguments) {
		checkKey(key);
		if (token <= 0) {
			throw new IllegalArgumentException("A fencing token is positive, but this one is " + token);
		}
		String answer = this.redis.execute(WRITE, List.of(key), arguments);
		if (answer == null) {
			throw new IllegalStateException(
					"Redis gives no answer inside MULTI or a pipeline, so that a stale token would not be noticed. "
							+ "Write fenced values outside of it");
		}
		if (!answer.equals(WRITTEN)) {
			throw new StaleTokenException(key, token, Long.parseLong(answer));
		}
	}

	@SuppressWarnings("NullAway") // for callers that are not null-checked
	private static void checkKey(String key) {
		if (key == null || key.isBlank()) {
			throw new IllegalArgumentException("'key' must not be null or blank");
		}
	}

	private static long currentToken() {
		return LockHandle.current()
			.map(LockHandle::token)
			.orElseThrow(() -> new IllegalStateException(
					"This thread holds no lock whose fencing token could be written. Write in a @DistributedLocked method "
							+ "or in LockRegistry.execute, or name the token: set(key, value, handle.token())"));
	}

}
