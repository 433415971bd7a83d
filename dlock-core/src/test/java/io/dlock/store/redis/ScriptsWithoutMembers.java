package io.dlock.store.redis;

import io.dlock.store.redis.connection.RedisLockScript;

/**
 * The scripts of the version before members, as they were. They run beside those of today
 * during a rolling update.
 */
final class ScriptsWithoutMembers {

	private static final String PASS = """
			local function pass(waiting)
				redis.call('DEL', KEYS[1])
				if not waiting or waiting == '' then
					return false, ''
				end
				local first = string.sub(waiting, 1, 16)
				local others = string.sub(waiting, 18)
				redis.call('HSET', KEYS[1], 'owner', '>' .. first, 'waiting', others)
				redis.call('PEXPIRE', KEYS[1], tonumber(string.sub(first, 1, 4)))
				local prefix, key = string.match(KEYS[1], '^(.-):{b%d+}:lock:(.*)$')
				redis.pcall('PUBLISH', prefix .. ':mail:' .. first, key)
				return '>' .. first, others
			end
			""";

	private static final String WITHOUT = """
			local function without(waiting, address)
				local from, to = string.find(waiting, address .. ' ', 1, true)
				return from and string.sub(waiting, 1, from - 1) .. string.sub(waiting, to + 1) or waiting
			end
			""";

	private static final String LENGTHEN = """
			local function lengthen(lease)
				if redis.call('PTTL', KEYS[1]) < tonumber(lease) then
					redis.call('PEXPIRE', KEYS[1], lease)
				end
			end
			""";

	static final RedisLockScript ACQUIRE = new RedisLockScript(2, LENGTHEN + PASS + WITHOUT + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'waiting')
			local owner = held[1]
			local waiting = held[2] or ''
			local mailbox = ARGV[5] or ''
			if owner == ARGV[1] then
				lengthen(ARGV[2])
				return {1, redis.call('HGET', KEYS[1], 'token')}
			end
			if owner and owner == ARGV[6] then
				owner, waiting = pass(waiting)
			end
			if owner and owner ~= '>' .. mailbox then
				if ARGV[7] == '1' and #waiting < 4000 and not string.find(waiting, mailbox, 1, true) then
					redis.call('HSET', KEYS[1], 'waiting', waiting .. mailbox .. ' ')
				end
				local isHeld = string.sub(owner, 1, 1) ~= '~'
				return {0, redis.call('PTTL', KEYS[1]), isHeld and redis.call('HGET', KEYS[1], 'holder')}
			end
			if waiting ~= '' and mailbox ~= '' then
				redis.call('HSET', KEYS[1], 'waiting', without(waiting, mailbox))
			end
			local time = redis.call('TIME')
			local now = time[1] .. string.sub('00000' .. time[2], -6)
			local token = now
			local last = redis.call('SET', KEYS[2], now, 'GET')
			if last and tonumber(last) >= tonumber(now) then
				token = string.format('%.0f', last + 1)
				redis.call('SET', KEYS[2], token)
			end
			redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', token, 'holder', ARGV[3],
				'reason', ARGV[4], 'since', now)
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			return {1, token}
			""");

	static final RedisLockScript RENEW = new RedisLockScript(LENGTHEN + """
			if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
				return 0
			end
			lengthen(ARGV[2])
			return 1
			""");

	static final RedisLockScript RELEASE = new RedisLockScript(PASS + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'waiting')
			if held[1] ~= ARGV[1] then
				return 0
			end
			pass(held[2])
			return 1
			""");

	static final RedisLockScript KEEP = new RedisLockScript("""
			if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
				return 0
			end
			redis.call('HSET', KEYS[1], 'owner', '~' .. string.sub(ARGV[1], 2))
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			return 1
			""");

	static final RedisLockScript LEAVE = new RedisLockScript(PASS + WITHOUT + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'waiting')
			if held[1] == '>' .. ARGV[1] then
				pass(held[2])
				return 1
			end
			if held[2] then
				redis.call('HSET', KEYS[1], 'waiting', without(held[2], ARGV[1]))
			end
			return 0
			""");

	static final RedisLockScript FORCE_RELEASE = new RedisLockScript(PASS + """
			local held = redis.call('HMGET', KEYS[1], 'token', 'waiting')
			if held[1] ~= ARGV[1] then
				return 0
			end
			pass(held[2])
			return 1
			""");

	private ScriptsWithoutMembers() {
	}

}
