package io.dlock.store.redis;

import io.dlock.store.LockStore;
import io.dlock.store.MailboxAddress;
import io.dlock.store.redis.connection.RedisLockScript;

/**
 * The Lua scripts, one for each operation. Their text is constant, so that the server's
 * script cache holds each once.
 * <p>
 * {@code KEYS[1]} is the lock, a hash with {@code owner}, {@code token}, {@code holder},
 * {@code reason} and {@code since}, which expires with the lease, or a second
 * {@linkplain RedisLua#LEFT later} if it has a queue. {@code KEYS[2]} is the fence of its
 * bucket: the last token minted for any key of the bucket, which does not expire.
 * <p>
 * The queue is in the field {@code waiting} of the hash, as {@link MailboxAddress}es with
 * a space behind each. A release moves the first of them to {@code owner}, with a
 * {@code >} before it and a short expiry, and notifies it. The queue is bounded to 10,000
 * entries; a process that finds no place in it polls.
 *
 * @see RedisMemberScripts
 */
final class RedisLockScripts {

	/**
	 * ARGV: owner, lease in ms, holder, reason, and optionally mailbox or empty, owner to
	 * release or empty, 1 to join the queue, and the least token. Answers {1, token} or
	 * {0, remaining ms, place}, followed by the time and the holder, reason, beginning
	 * and token of a lock that has a holder, and the end of a member.
	 */
	static final String ACQUIRE_TEXT = """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'waiting', 'outlived')
			local owner, outlived = held[1], held[3]
			local waiting = held[2] or ''
			local mailbox = ARGV[5] or ''
			if owner == ARGV[1] then
				lengthen(ARGV[2], left(KEYS[1], owner, outlived))
				return {1, redis.call('HGET', KEYS[1], 'token')}
			end
			if owner and owner == ARGV[6] and not expired(KEYS[1], owner, outlived) then
				if waiting == '' then
					owner = nil
				else
					owner, waiting, outlived = pass(waiting)
				end
			end
			if owner and owner ~= '>' .. mailbox then
				local now, members, asked, names, remaining, beyond, isOver
				if owner == '+' then
					now, members, asked, names = micros(), memberFields()
					remaining = math.ceil((lastEnd(members, now) - now) / 1000)
					isOver = remaining == 0
				else
					remaining, beyond, isOver = left(KEYS[1], owner, outlived)
				end
				if not isOver then
					local queue, place = with(waiting, mailbox .. ' ', ARGV[7])
					if queue ~= waiting then
						join(queue, owner, outlived, remaining)
					end
					if string.find(owner, '^[>~]') then
						return {0, remaining, place}
					end
					if owner == '+' then
						if ARGV[7] == '1' and now - asked >= 2500000 then
							redis.call('HSET', KEYS[1], 'asked', now)
						end
						return refusal(remaining, place, now, members)
					end
					return {0, remaining, place, micros(),
						unpack(redis.call('HMGET', KEYS[1], 'holder', 'reason', 'since', 'token'))}
				end
				if ARGV[7] == '1' and string.sub(mailbox, 13, 13) == '.' then
					local queue, place = with(waiting, mailbox .. ' ', ARGV[7])
					if place ~= 0 then
						pass(queue, names)
						return {0, tonumber(string.sub(queue, 1, 4)), math.max(place - 1, -1)}
					end
				end
				forget(names)
				if mailbox ~= '' then
					waiting = without(waiting, mailbox .. ' ')
				end
				redis.call('HSET', KEYS[1], 'waiting', waiting)
			end
			local now = micros()
			local token = mint(now, ARGV[8])
			local isAwaited = waiting ~= ''
			if outlived and not isAwaited then
				forget()
			end
			redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', token, 'holder', ARGV[3],
				'reason', ARGV[4], 'since', now, unpack(isAwaited and {'outlived', ARGV[1]} or {}))
			redis.call('PEXPIRE', KEYS[1], ARGV[2] + (isAwaited and 1000 or 0))
			return {1, token}
			""";

	static final RedisLockScript ACQUIRE = new RedisLockScript(2, RedisLua.MINT + RedisLua.QUEUE + RedisLua.PASS
			+ RedisLua.LENGTHEN + RedisLua.MEMBER + RedisLua.REFUSAL + ACQUIRE_TEXT);

	/**
	 * ARGV: owner, lease in ms. Answers 1 if the owner holds the lock.
	 */
	static final RedisLockScript RENEW = new RedisLockScript(RedisLua.LEFT + RedisLua.LENGTHEN + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'outlived')
			if held[1] ~= ARGV[1] then
				return 0
			end
			local rest, beyond, isOver = left(KEYS[1], held[1], held[2])
			if isOver then
				return 0
			end
			lengthen(ARGV[2], rest, beyond)
			return 1
			""");

	/**
	 * ARGV: owner. Answers 1 if the owner held the lock.
	 */
	static final RedisLockScript RELEASE = new RedisLockScript(RedisLua.LEFT + RedisLua.PASS + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'waiting', 'outlived')
			if held[1] ~= ARGV[1] or expired(KEYS[1], held[1], held[3]) then
				return 0
			end
			pass(held[2])
			return 1
			""");

	/**
	 * ARGV: owner, rest in ms. Answers 1 if the owner held the lock. A {@code ~} instead
	 * of the first character of the owner says that it has no holder any more.
	 */
	static final RedisLockScript KEEP = new RedisLockScript(RedisLua.LEFT + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'outlived')
			if held[1] ~= ARGV[1] then
				return 0
			end
			local _, beyond, isOver = left(KEYS[1], held[1], held[2])
			if isOver then
				return 0
			end
			local kept = '~' .. string.sub(ARGV[1], 2)
			redis.call('HSET', KEYS[1], 'owner', kept, unpack(beyond > 0 and {'outlived', kept} or {}))
			redis.call('PEXPIRE', KEYS[1], ARGV[2] + beyond)
			return 1
			""");

	/**
	 * ARGV: mailbox. Answers 1 if the lock was reserved for it. Members that waited
	 * behind an exclusive request may come when it leaves.
	 */
	static final RedisLockScript LEAVE = new RedisLockScript(RedisLua.QUEUE + RedisLua.MEMBERS + """
			local held = redis.call('HMGET', KEYS[1], 'owner', 'waiting', '>' .. ARGV[1], 'outlived')
			local queue = held[2] or ''
			local waiting = without(without(queue, ARGV[1] .. ' '), ARGV[1] .. '+')
			if held[1] == '>' .. ARGV[1] and not expired(KEYS[1], held[1], held[4]) then
				pass(waiting)
				return 1
			end
			if waiting ~= queue then
				redis.call('HSET', KEYS[1], 'waiting', waiting)
			end
			if held[3] and drop('>' .. ARGV[1]) == 1 then
				return 1
			end
			if held[1] == '+' and string.find(queue, ARGV[1] .. ' ', 1, true) then
				local lock, changes = read(), {}
				reserve(lock, changes, lock.count + math.max(1, #lock.over))
				write(lock, changes)
			end
			return 0
			""");

	private RedisLockScripts() {
	}

	/**
	 * An owner as the scripts know it. The mark behind an exclusive owner tells other
	 * processes that its version lets a key outlive the lease.
	 * @return the argument of a script
	 */
	static byte[] owner(String owner) {
		return RedisLockScript.bytes(LockStore.isMember(owner) ? owner : owner + '!');
	}

}
