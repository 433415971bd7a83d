package io.dlock.fencing.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.fencing.StaleTokenException;

/**
 * Values in Redis that a stale holder, which has lost its lock and does not know it yet,
 * cannot overwrite:
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
 * The local validity of the lock is not checked: Redis alone decides.
 * <p>
 * Rules: all writers of a key use this class, with tokens of one and the same lock key. A
 * writer whose value depends on the one before {@linkplain #claim(String) claims} it:
 * otherwise a stale holder could still write between the read and the write. Nothing else
 * removes the key or lets it expire as long as there may be a stale holder. A key that
 * Redis loses, in a failover or by eviction, is not fenced any more.
 *
 * @since 0.1
 */
public final class FencedValues {

	/**
	 * Ends with the newest token if that is higher. Tokens are text here: the numbers of
	 * Lua are exact up to 2^53 only.
	 */
	private static final String RAISE = """
			local newest = redis.call('HGET', KEYS[1], 'token')
			if newest and (#newest > #ARGV[1] or (#newest == #ARGV[1] and newest > ARGV[1])) then
				return {newest}
			end
			redis.call('HSET', KEYS[1], 'token', ARGV[1])
			""";

	private static final RedisScript<List<?>> CLAIM = script("""
			return {ARGV[1], redis.call('HGET', KEYS[1], 'value')}
			""");

	private static final RedisScript<List<?>> SET = script("""
			redis.call('HSET', KEYS[1], 'value', ARGV[2])
			return {ARGV[1]}
			""");

	private static final RedisScript<List<?>> DELETE = script("""
			redis.call('HDEL', KEYS[1], 'value')
			return {ARGV[1]}
			""");

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
	 * Write a value with a token: that of a lock that belongs to no thread, or one that
	 * another service has sent along with its request.
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
		run(SET, key, token, value);
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
		run(DELETE, key, token);
	}

	/**
	 * Read a value that is to be changed under the current lock: afterwards no earlier
	 * holder can write it.
	 * @param key the Redis key, used as it is
	 * @return the value, or empty if there is none
	 * @throws StaleTokenException if a later holder has claimed or written it
	 * @throws IllegalStateException if the calling thread holds no lock
	 * @see LockHandle#current()
	 */
	public Optional<String> claim(String key) {
		return claim(key, currentToken());
	}

	/**
	 * Read a value that is to be changed with a token: afterwards no earlier holder can
	 * write it.
	 * @param key the Redis key, used as it is
	 * @param token the fencing token, positive
	 * @return the value, or empty if there is none
	 * @throws StaleTokenException if a later holder has claimed or written it
	 */
	public Optional<String> claim(String key, long token) {
		List<?> answer = run(CLAIM, key, token);
		return (answer.size() > 1) ? Optional.ofNullable((String) answer.get(1)) : Optional.empty();
	}

	/**
	 * Read a value, with or without a lock.
	 * @param key the Redis key, used as it is
	 * @return the value, or empty if there is none
	 */
	public Optional<String> get(String key) {
		checkKey(key);
		return Optional.ofNullable(this.redis.<String, String>opsForHash().get(key, "value"));
	}

	private List<?> run(RedisScript<List<?>> script, String key, long token, Object... more) {
		checkKey(key);
		if (token <= 0) {
			throw new IllegalArgumentException("A fencing token is positive, but this one is " + token);
		}
		List<Object> arguments = new ArrayList<>(List.of(Long.toString(token)));
		arguments.addAll(List.of(more));
		List<?> answer = this.redis.execute(script, List.of(key), arguments.toArray());
		if (answer == null || answer.isEmpty()) {
			throw new IllegalStateException(
					"Redis gives no answer inside MULTI or a pipeline, so that a stale token would not be noticed. "
							+ "Use fenced values outside them");
		}
		long newest = Long.parseLong(String.valueOf(answer.get(0)));
		if (newest != token) {
			throw new StaleTokenException(key, token, newest);
		}
		return answer;
	}

	@SuppressWarnings("NullAway") // for callers that are not null-checked
	private static void checkKey(String key) {
		if (key == null || key.isBlank()) {
			throw new IllegalArgumentException("'key' must not be null or blank");
		}
	}

	private static long currentToken() {
		return LockContext.all()
			.stream()
			.filter((handle) -> !handle.isPermit())
			.findFirst()
			.map(LockHandle::token)
			.orElseThrow(() -> new IllegalStateException(
					"This thread holds no lock whose fencing token could be written. Use it in a @DistributedLocked method "
							+ "or in LockRegistry.execute, or name the token: set(key, value, handle.token())"));
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static RedisScript<List<?>> script(String then) {
		return (RedisScript) RedisScript.of(RAISE + then, List.class);
	}

}
