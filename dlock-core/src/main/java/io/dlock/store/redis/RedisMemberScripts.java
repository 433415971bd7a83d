package io.dlock.store.redis;

import io.dlock.store.LockStore;
import io.dlock.store.redis.connection.RedisLockScript;

/**
 * The Lua scripts for {@linkplain LockStore#isMember members}, which hold a lock
 * together.
 * <p>
 * The hash of the lock then has the {@code owner} {@code +}, which excludes every other
 * owner, and expires with the longest lease, or a second later if it has a queue: the
 * ends of the members alone decide. Each member is a field with the name of the owner,
 * and each reservation for a member a field with the name {@code >address}. The hash has
 * no {@code token}, so that a version without members cannot release it by force;
 * {@code holder} is one of the members.
 * <p>
 * In the queue a member has a {@code +} behind its address instead of the space. The
 * field {@code asked} has the time in µs at which an exclusive request of the queue has
 * asked last, to within 2.5 seconds. If none has asked for ten seconds, all of them are
 * dead, and leave the queue.
 */
final class RedisMemberScripts {

	/**
	 * ARGV: owner, lease in ms, holder, reason, limit, and optionally mailbox or empty,
	 * owner to release or empty, and 1 to join the queue. Answers {1, token, 1 if an
	 * exclusive request waits}, or refuses like {@link RedisLockScripts#ACQUIRE}. A
	 * member takes the place of the exclusive owner that it releases, before the queue,
	 * and is refused if that owner is gone: another may have come and gone. A process
	 * whose place is gone, since the limit is smaller now, is the first of the queue
	 * again.
	 */
	static final RedisLockScript ACQUIRE = new RedisLockScript(2,
			RedisLua.MINT + RedisLua.QUEUE + RedisLua.MEMBERS + RedisLua.REFUSAL + RedisLua.LENGTHEN_MEMBER + """
					local lock = read()
					local own = lock.members[ARGV[1]]
					local limit = math.min(ARGV[5], 1000)
					local mailbox = ARGV[6] or ''
					local releasing = ARGV[7] or ''
					local function awaited()
						return string.find(lock.waiting, ' ', 1, true) and 1 or 0
					end
					if own and lock.members[releasing] then
						drop(releasing)
						lock = read()
					end
					if own then
						lengthenMember(ARGV[1], own, ARGV[2], lock.now, lock.outlived)
						return {1, (parts(own)), awaited()}
					end
					local isHeld = lock.owner == releasing and not expired(KEYS[1], releasing, lock.outlived)
					local isGone = not isHeld and string.find(releasing, '^[^+]')
					if isHeld then
						lock.owner = nil
					elseif lock.members[releasing] and lock.count == 1 and lock.waiting == '' then
						remove(lock, releasing)
						lock.over[#lock.over + 1] = 'asked'
						lock.asked = nil
					elseif lock.members[releasing] then
						drop(releasing)
						lock = read()
					end
					if lock.owner == '+' and awaited() == 1 and not lock.asked then
						redis.call('HSET', KEYS[1], 'asked', lock.now)
					elseif lock.asked and lock.now - lock.asked >= 10000000 then
						lock.waiting = string.gsub(lock.waiting, string.rep('.', 16) .. ' ', '')
					end
					local place = '>' .. mailbox
					local hasPlace = lock.members[place]
					if hasPlace then
						remove(lock, place)
					end
					local isExcluded = lock.owner and lock.owner ~= '+' and lock.owner ~= place
					local remaining, beyond, isOver
					if isExcluded then
						remaining, beyond, isOver = left(KEYS[1], lock.owner, lock.outlived)
					end
					isExcluded = isExcluded and not isOver
					local isFull = lock.count >= limit
					if isExcluded or isFull or lock.count > 0 and awaited() == 1 and not hasPlace then
						local waiting, ahead = with(lock.waiting, mailbox .. '+', ARGV[8])
						if ARGV[8] == '1' and hasPlace then
							ahead = 0
							waiting = mailbox .. '+' .. lock.waiting
						end
						if isExcluded then
							if waiting ~= lock.waiting then
								join(waiting, lock.owner, lock.outlived, remaining)
							end
							if string.find(lock.owner, '^[>~]') then
								return {0, remaining, ahead}
							end
							return {0, remaining, ahead, lock.now, lock.holder, lock.reason, lock.since, lock.token}
						end
						if waiting ~= lock.waiting then
							lock.waiting = waiting
							write(lock, {'waiting', waiting})
						end
						local stop = lastEnd(lock.members, lock.now)
						for _, member in pairs(isFull and lock.members or {}) do
							stop = math.min(stop, ends(member))
						end
						return refusal(math.ceil((stop - lock.now) / 1000), ahead, lock.now, lock.members)
					end
					if isGone then
						return {0, 0, -1}
					end
					for _, name in ipairs(lock.token and {'token', 'reason', 'since'} or {}) do
						lock.over[#lock.over + 1] = name
					end
					if mailbox ~= '' then
						lock.waiting = without(lock.waiting, mailbox .. '+')
					end
					local token = mint(lock.now)
					local changes = {'owner', '+', 'waiting', lock.waiting, 'holder', ARGV[3]}
					add(lock, changes, ARGV[1], string.format('%.0f %s %s %d ', lock.now + ARGV[2] * 1000, token,
						lock.now, #ARGV[3]) .. ARGV[3] .. ARGV[4])
					reserve(lock, changes, limit)
					write(lock, changes)
					return {1, token, awaited()}
					""");

	/**
	 * ARGV: owner, lease in ms. Answers 1 if the owner is a member.
	 */
	static final RedisLockScript RENEW = new RedisLockScript(
			RedisLua.MICROS + RedisLua.LEFT + RedisLua.MEMBER + RedisLua.LENGTHEN_MEMBER + """
					local held = redis.call('HMGET', KEYS[1], ARGV[1], 'outlived')
					local member = held[1]
					local now = micros()
					if not member or ends(member) <= tonumber(now) then
						return 0
					end
					lengthenMember(ARGV[1], member, ARGV[2], now, held[2])
					return 1
					""");

	/**
	 * ARGV: owner. Answers 1 if the owner was a member.
	 */
	static final RedisLockScript RELEASE = new RedisLockScript(RedisLua.MEMBERS + """
			return drop(ARGV[1])
			""");

	/**
	 * The acquire of an exclusive owner, after the release of the member that it names.
	 */
	static final RedisLockScript EXCHANGE = new RedisLockScript(2,
			RedisLua.MINT + RedisLua.QUEUE + RedisLua.MEMBERS + RedisLua.REFUSAL + RedisLua.LENGTHEN + """
					drop(ARGV[6], true)
					""" + RedisLockScripts.ACQUIRE_TEXT);

	private RedisMemberScripts() {
	}

}
