package io.dlock.store.redis;

import io.dlock.store.redis.connection.RedisLockScript;

/**
 * The script for {@link io.dlock.store.QuorumCapable}.
 */
final class RedisTokenScript {

	/**
	 * ARGV: owner, least token. Answers 1 if the owner holds the lock.
	 */
	static final RedisLockScript RAISE = new RedisLockScript(2, RedisLua.LEFT + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'outlived', 'token')
			if held[1] ~= ARGV[1] then
				return 0
			end
			local rest, beyond, isOver = left(KEYS[1], held[1], held[2])
			if isOver then
				return 0
			end
			local least = tonumber(ARGV[2])
			local last = redis.call('SET', KEYS[2], ARGV[2], 'GET')
			if last and tonumber(last) > least then
				redis.call('SET', KEYS[2], last)
			end
			if tonumber(held[3]) < least then
				redis.call('HSET', KEYS[1], 'token', ARGV[2])
			end
			return 1
			""");

	private RedisTokenScript() {
	}

}
