package io.dlock.store.redis;

import io.dlock.store.MailboxAddress;

/**
 * The Lua scripts, one for each operation. Their text is constant, so that the server's
 * script cache holds each once.
 * <p>
 * {@code KEYS[1]} is the lock, a hash with {@code owner}, {@code token}, {@code holder},
 * {@code reason} and {@code since}, which expires with the lease. {@code KEYS[2]} is the
 * fence of its bucket: the last token minted for any key of the bucket, which does not
 * expire.
 * <p>
 * The queue is in the field {@code waiting} of the hash, as {@link MailboxAddress}es with
 * a space behind each. A release moves the first of them to {@code owner}, with a
 * {@code >} before it and a short expiry, and notifies it. The queue is bounded; a
 * process that finds no place in it polls.
 */
final class RedisLockScripts {

	/**
	 * Ends a hold: returns the new owner and the rest of the queue. The name of the lock
	 * contains the prefix of all names and the storage key. A message is a hint: a user
	 * without the right to publish can release all the same.
	 */
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

	/**
	 * Returns a queue without an address.
	 */
	private static final String WITHOUT = """
			local function without(waiting, address)
				local from, to = string.find(waiting, address .. ' ', 1, true)
				return from and string.sub(waiting, 1, from - 1) .. string.sub(waiting, to + 1) or waiting
			end
			""";

	/**
	 * Starts a lease anew unless it lasts longer: a request may arrive late.
	 */
	private static final String LENGTHEN = """
			local function lengthen(lease)
				if redis.call('PTTL', KEYS[1]) < tonumber(lease) then
					redis.call('PEXPIRE', KEYS[1], lease)
				end
			end
			""";

	/**
	 * ARGV: owner, lease in ms, holder, reason, and optionally mailbox or empty, owner to
	 * release or empty, and 1 to join the queue. Answers {1, token} or {0, remaining ms,
	 * holder}. The token is a hybrid logical clock (Kulkarni et al., 2014) in
	 * microseconds. One command reads and writes the fence: the server spends most of the
	 * script's time on its commands.
	 */
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

	/**
	 * ARGV: owner, lease in ms. Answers 1 if the owner holds the lock.
	 */
	static final RedisLockScript RENEW = new RedisLockScript(LENGTHEN + """
			if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
				return 0
			end
			lengthen(ARGV[2])
			return 1
			""");

	/**
	 * ARGV: owner. Answers 1 if the owner held the lock.
	 */
	static final RedisLockScript RELEASE = new RedisLockScript(PASS + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'waiting')
			if held[1] ~= ARGV[1] then
				return 0
			end
			pass(held[2])
			return 1
			""");

	/**
	 * ARGV: owner, rest in ms. Answers 1 if the owner held the lock. A {@code ~} instead
	 * of the first character of the owner says that it has no holder any more.
	 */
	static final RedisLockScript KEEP = new RedisLockScript("""
			if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
				return 0
			end
			redis.call('HSET', KEYS[1], 'owner', '~' .. string.sub(ARGV[1], 2))
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			return 1
			""");

	/**
	 * ARGV: mailbox. Answers 1 if the lock was reserved for it.
	 */
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

	/**
	 * Returns the time in µs, and appends a lock to an answer: name, holder, reason,
	 * since in µs, token, 1 if kept, remaining ms.
	 */
	private static final String DESCRIBE = """
			local function now()
				local time = redis.call('TIME')
				return string.format('%.0f', time[1] * 1000000 + time[2])
			end
			local function append(answer, name)
				local lock = redis.call('HMGET', name, 'holder', 'reason', 'since', 'token', 'owner')
				if lock[4] then
					local kept = string.sub(lock[5], 1, 1) == '~' and 1 or 0
					local remaining = string.format('%.0f', redis.call('PTTL', name))
					for _, value in ipairs({name, lock[1], lock[2], lock[3], lock[4], kept, remaining}) do
						answer[#answer + 1] = value
					end
				end
			end
			""";

	/**
	 * Answers {now in µs} and the lock, if there is one.
	 */
	static final RedisLockScript FIND = new RedisLockScript(DESCRIBE + """
			local answer = {now()}
			append(answer, KEYS[1])
			return answer
			""");

	/**
	 * ARGV: token. Answers 1 if the lock had it. A reservation has no token.
	 */
	static final RedisLockScript FORCE_RELEASE = new RedisLockScript(PASS + """
			local held = redis.call('HMGET', KEYS[1], 'token', 'waiting')
			if held[1] ~= ARGV[1] then
				return 0
			end
			pass(held[2])
			return 1
			""");

	/**
	 * KEYS[1] selects the node of a cluster. ARGV: cursor, pattern, number of keys to
	 * look at. Answers {next cursor, now in µs} and the locks, or {'', error} if the user
	 * has no right to scan.
	 */
	static final RedisLockScript LIST = new RedisLockScript(DESCRIBE + """
			local page = redis.pcall('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3], 'TYPE', 'hash')
			if page.err then
				return {'', page.err}
			end
			local answer = {page[1], now()}
			for _, name in ipairs(page[2]) do
				append(answer, name)
			end
			return answer
			""");

	/**
	 * KEYS[1] selects the node of a cluster. Answers {1, facts} or {0, error} if the user
	 * has no right to them.
	 */
	static final RedisLockScript INFO = new RedisLockScript("""
			local info = redis.pcall('INFO')
			if type(info) == 'table' and info.err then
				return {0, info.err}
			end
			return {1, info}
			""");

	private RedisLockScripts() {
	}

}
