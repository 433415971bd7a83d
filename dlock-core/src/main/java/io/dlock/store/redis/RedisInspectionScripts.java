package io.dlock.store.redis;

import io.dlock.store.redis.connection.RedisLockScript;

/**
 * The Lua scripts for operators.
 */
final class RedisInspectionScripts {

	/**
	 * Returns the time in µs, and appends a lock to an answer: name, holder, reason,
	 * since in µs, token, 1 if kept or 2 if a member, remaining ms.
	 */
	private static final String DESCRIBE = RedisLua.MICROS + RedisLua.LEFT + RedisLua.MEMBER + """
			local function add(answer, ...)
				for _, value in ipairs({...}) do
					answer[#answer + 1] = value
				end
			end
			local function append(answer, name, now)
				local lock = redis.call('HMGET', name, 'holder', 'reason', 'since', 'token', 'owner', 'outlived')
				if lock[4] then
					local kept = string.sub(lock[5], 1, 1) == '~' and 1 or 0
					local rest, _, isOver = left(name, lock[5], lock[6])
					if not isOver then
						add(answer, name, lock[1], lock[2], lock[3], lock[4], kept, string.format('%.0f', rest))
					end
				elseif lock[5] == '+' then
					local fields = redis.call('HGETALL', name)
					for i = 1, #fields, 2 do
						if string.find(fields[i], '^%+') and ends(fields[i + 1]) > tonumber(now) then
							local token, since, holder, reason = parts(fields[i + 1])
							add(answer, name, holder, reason, since, token, 2,
								string.format('%.0f', (ends(fields[i + 1]) - now) / 1000))
						end
					end
				end
			end
			""";

	/**
	 * Answers {now in µs} and the lock, if there is one, once for each member.
	 */
	static final RedisLockScript FIND = new RedisLockScript(DESCRIBE + """
			local answer = {micros()}
			append(answer, KEYS[1], answer[1])
			return answer
			""");

	/**
	 * ARGV: token. Answers 1 if the lock or one of its members had it. A reservation has
	 * no token.
	 */
	static final RedisLockScript FORCE_RELEASE = new RedisLockScript(RedisLua.LEFT + RedisLua.MEMBERS + """
			local held = redis.call('HMGET', KEYS[1], 'token', 'waiting', 'owner', 'outlived')
			if held[1] == ARGV[1] then
				local _, _, isOver = left(KEYS[1], held[3], held[4])
				if isOver then
					return 0
				end
				pass(held[2])
				return 1
			end
			if held[3] == '+' then
				for name, member in pairs(read().members) do
					if parts(member) == ARGV[1] then
						return drop(name)
					end
				end
			end
			return 0
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
			local answer = {page[1], micros()}
			for _, name in ipairs(page[2]) do
				append(answer, name, answer[2])
			end
			return answer
			""");

	/**
	 * Sends an empty message, to see whether a script may.
	 */
	private static final String SEND = """
			local sent = redis.pcall('PUBLISH', ARGV[1], '')
			local refusal = type(sent) == 'table' and sent.err or ''
			""";

	/**
	 * KEYS[1] selects the node of a cluster. ARGV: channel. Answers {error} if no script
	 * may send messages to the channel, or {''}.
	 */
	static final RedisLockScript PUBLISH = new RedisLockScript(SEND + """
			return {refusal}
			""");

	/**
	 * KEYS[1] selects the node of a cluster. ARGV: channel. Answers {1, facts} or {0,
	 * error} if the user has no right to them, and as {@link #PUBLISH}.
	 */
	static final RedisLockScript INFO = new RedisLockScript(SEND + """
			local info = redis.pcall('INFO')
			if type(info) == 'table' and info.err then
				return {0, info.err, refusal}
			end
			return {1, info, refusal}
			""");

	private RedisInspectionScripts() {
	}

}
