package io.dlock.store.redis;

/**
 * The Lua scripts, one for each operation. Their text is constant, so that the server's
 * script cache holds each once.
 * <p>
 * {@code KEYS[1]} is the lock, a hash with {@code owner}, {@code token}, {@code holder},
 * {@code reason} and {@code since}, which expires with the lease. {@code KEYS[2]} is the
 * fence of its bucket: the last token minted for any key of the bucket, which does not
 * expire.
 */
final class RedisLockScripts {

	/**
	 * ARGV: owner, lease in ms, holder, reason. Answers {1, token} or {0, remaining ms,
	 * holder}. The token is a hybrid logical clock (Kulkarni et al., 2014) in
	 * microseconds.
	 */
	static final RedisLockScript ACQUIRE = new RedisLockScript("""
			local owner = redis.call('HGET', KEYS[1], 'owner')
			if owner == ARGV[1] then
				redis.call('PEXPIRE', KEYS[1], ARGV[2])
				return {1, redis.call('HGET', KEYS[1], 'token')}
			end
			if owner then
				return {0, redis.call('PTTL', KEYS[1]), redis.call('HGET', KEYS[1], 'holder')}
			end
			local time = redis.call('TIME')
			local now = time[1] * 1000000 + time[2]
			local last = tonumber(redis.call('GET', KEYS[2]) or '0')
			local token = string.format('%.0f', math.max(last + 1, now))
			redis.call('SET', KEYS[2], token)
			redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', token, 'holder', ARGV[3],
				'reason', ARGV[4], 'since', string.format('%.0f', now))
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			return {1, token}
			""");

	/**
	 * ARGV: owner, lease in ms. Answers 1 if the owner holds the lock.
	 */
	static final RedisLockScript RENEW = new RedisLockScript("""
			if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
				return 0
			end
			if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
				redis.call('PEXPIRE', KEYS[1], ARGV[2])
			end
			return 1
			""");

	/**
	 * ARGV: owner. Answers 1 if the owner held the lock.
	 */
	static final RedisLockScript RELEASE = new RedisLockScript("""
			if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
				return 0
			end
			return redis.call('DEL', KEYS[1])
			""");

	/**
	 * Answers {holder, reason, since in µs, token, now in µs, remaining ms}, or nothing.
	 */
	static final RedisLockScript FIND = new RedisLockScript("""
			local lock = redis.call('HMGET', KEYS[1], 'holder', 'reason', 'since', 'token')
			if not lock[4] then
				return {}
			end
			local time = redis.call('TIME')
			lock[5] = string.format('%.0f', time[1] * 1000000 + time[2])
			lock[6] = string.format('%.0f', redis.call('PTTL', KEYS[1]))
			return lock
			""");

	private RedisLockScripts() {
	}

}
