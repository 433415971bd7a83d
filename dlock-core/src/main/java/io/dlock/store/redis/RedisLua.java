package io.dlock.store.redis;

/**
 * Functions that several scripts share. A script begins with those that it calls, each
 * after the functions that it calls itself.
 */
final class RedisLua {

	/**
	 * The time of the server in µs.
	 */
	static final String MICROS = """
			local function micros()
				local time = redis.call('TIME')
				return time[1] .. string.sub('00000' .. time[2], -6)
			end
			""";

	/**
	 * Mints a token: a hybrid logical clock (Kulkarni et al., 2014) in microseconds, at
	 * least the token that the caller wants, which may be 10 ms ahead. One command reads
	 * and writes the fence: the server spends most of the script's time on its commands.
	 */
	static final String MINT = """
			local function mint(now, least)
				local token = least and string.format('%.0f', math.max(now, math.min(least, now + 10000))) or now
				local last = redis.call('SET', KEYS[2], token, 'GET')
				if last and tonumber(last) >= tonumber(token) then
					token = string.format('%.0f', last + 1)
					redis.call('SET', KEYS[2], token)
				end
				return token
			end
			""";

	/**
	 * Notifies a process that the lock is reserved for it, or for the request with the
	 * address. The name of the lock contains the prefix of all names and the storage key.
	 * A message is a hint: a user without the right to publish can release all the same.
	 */
	private static final String NOTIFY = """
			local function notify(address)
				local prefix, message = string.match(KEYS[1], '^(.-):{b%d+}:lock:(.*)$')
				local mailbox = address
				if string.sub(address, 13, 13) == '.' then
					mailbox = string.sub(address, 1, 12) .. '0000'
					message = message .. ' ' .. address
				end
				redis.pcall('PUBLISH', prefix .. ':mail:' .. mailbox, message)
			end
			""";

	/**
	 * A reservation for a member: its field, and its value, which is its end.
	 */
	private static final String RESERVATION = """
			local function reservation(address, now)
				return '>' .. address, string.format('%.0f', now + string.sub(address, 1, 4) * 1000)
			end
			""";

	/**
	 * The rest of a lease in ms, the time in ms by which the key outlives it, and whether
	 * it is over. A key with a queue outlives the lease by a second, so that the queue is
	 * not lost with it. The field {@code outlived} names the owner that this is true of:
	 * an earlier version takes over a reservation without a change to that field, and its
	 * lease ends with the key. The second function tells only whether a lease is over. It
	 * reads the expiry of a key only if the key outlives its lease.
	 */
	static final String LEFT = """
			local function left(key, owner, outlived)
				local beyond = owner == outlived and 1000 or 0
				local rest = redis.call('PTTL', key) - beyond
				return rest, beyond, rest < 0 and rest + beyond >= 0
			end
			local function expired(key, owner, outlived)
				return owner == outlived and select(3, left(key, owner, outlived))
			end
			""";

	/**
	 * Removes the fields that the next owner does not write, and those of members. The
	 * key stays: in a slot of a Cluster that migrates, a script ends with its next
	 * command if a key is missing. A user without the right to {@code HDEL} passes
	 * exclusive locks on all the same.
	 */
	private static final String FORGET = """
			local function forget(members)
				local removed = redis.pcall('HDEL', KEYS[1], 'token', 'holder', 'reason', 'since', 'asked',
					'outlived', unpack(members or {}))
				if type(removed) == 'table' then
					redis.call('DEL', KEYS[1])
				end
			end
			""";

	/**
	 * Ends a hold: returns the new owner, the rest of the queue, and the owner that the
	 * key outlives. Without a queue the key is deleted, and no command may follow.
	 */
	static final String PASS = MICROS + NOTIFY + RESERVATION + FORGET + """
			local function pass(waiting, members)
				if not waiting or waiting == '' then
					redis.call('DEL', KEYS[1])
					return
				end
				forget(members)
				local first = string.sub(waiting, 1, 16)
				local owner = '>' .. first
				local others = string.sub(waiting, 18)
				if string.sub(waiting, 17, 17) == '+' then
					owner = '+'
					redis.call('HSET', KEYS[1], reservation(first, micros()))
				end
				local outlived = others ~= '' and owner
				redis.call('HSET', KEYS[1], 'owner', owner, 'waiting', others,
					unpack(outlived and {'outlived', owner} or {}))
				redis.call('PEXPIRE', KEYS[1], tonumber(string.sub(first, 1, 4)) + (outlived and 1000 or 0))
				notify(first)
				return owner, others, outlived
			end
			""";

	/**
	 * Returns a queue without an entry, and a queue with an entry if its process joins
	 * it. An entry is an address and a mark of the mode. The place is the number of
	 * entries before it, or of all if it has none, and -1 if it finds no room. From the
	 * first entry on the key outlives the lease, unless a process of an earlier version
	 * has it, which would believe that it had renewed the lease, or the key has no
	 * expiry: its owner, if it is alive, gives it one with the next renewal.
	 */
	static final String QUEUE = LEFT + """
			local function without(waiting, entry)
				local from, to = string.find(waiting, entry, 1, true)
				return from and string.sub(waiting, 1, from - 1) .. string.sub(waiting, to + 1) or waiting
			end
			local function with(waiting, entry, joins)
				local from = #entry == 17 and string.find(waiting, entry, 1, true)
				if joins == '1' and not from and #waiting >= 170000 then
					return waiting, -1
				end
				local place = (from or #waiting + 1) / 17
				return (from or joins ~= '1') and waiting or waiting .. entry, math.floor(place)
			end
			local function join(queue, owner, outlived, rest)
				local changes = {'waiting', queue}
				if owner ~= outlived and rest >= 0 and (string.find(owner, '^[>+]') or string.find(owner, '!$')) then
					changes = {'waiting', queue, 'outlived', owner}
					redis.call('PEXPIRE', KEYS[1], rest + 1000)
				end
				redis.call('HSET', KEYS[1], unpack(changes))
			end
			""";

	/**
	 * Starts a lease anew unless it lasts longer: a request may arrive late. It is
	 * written in any case: for newer servers, {@code WAIT} waits only for the writes of
	 * this very connection.
	 */
	static final String LENGTHEN = """
			local function lengthen(lease, rest, beyond)
				redis.call('PEXPIRE', KEYS[1], math.max(rest, lease) + beyond)
			end
			""";

	/**
	 * Reads the field of a member: end in µs, token, since in µs, length of the holder,
	 * holder, reason. A reservation has an end only.
	 */
	static final String MEMBER = """
			local function ends(member)
				return tonumber(string.match(member, '^%d+'))
			end
			local function lastEnd(members, now)
				local last = tonumber(now)
				for _, member in pairs(members) do
					last = math.max(last, ends(member))
				end
				return last
			end
			local function parts(member)
				local token, since, length, texts = string.match(member, '^%d+ (%d+) (%d+) (%d+) (.*)$')
				if token then
					return token, since, string.sub(texts, 1, length), string.sub(texts, length + 1)
				end
			end
			""";

	/**
	 * The members, the time at which an exclusive request has asked, and the names of the
	 * members. Then the answer to a request that members refuse, with the one that ends
	 * last: {0, remaining ms, place, time, holder, reason, beginning, token, end}.
	 */
	static final String REFUSAL = """
			local function memberFields()
				local members, asked, names, fields = {}, 0, {}, redis.call('HGETALL', KEYS[1])
				for i = 1, #fields, 2 do
					if fields[i] == 'asked' then
						asked = fields[i + 1]
					elseif string.find(fields[i], '^[+>]') then
						members[#members + 1] = fields[i + 1]
						names[#names + 1] = fields[i]
					end
				end
				return members, asked, names
			end
			local function refusal(remaining, place, now, members)
				local last, longest = tonumber(now), nil
				for _, member in pairs(members) do
					if parts(member) and ends(member) > last then
						last, longest = ends(member), member
					end
				end
				if not longest then
					return {0, remaining, place}
				end
				local token, since, holder, reason = parts(longest)
				return {0, remaining, place, now, holder, reason, since, token, last}
			end
			""";

	/**
	 * Starts the lease of a member anew unless it lasts longer.
	 */
	static final String LENGTHEN_MEMBER = LENGTHEN + """
			local function lengthenMember(name, member, lease, now, outlived)
				lengthen(lease, left(KEYS[1], '+', outlived))
				redis.call('HSET', KEYS[1], name,
					string.format('%.0f', math.max(ends(member), now + lease * 1000)) .. string.match(member, ' .*$'))
			end
			""";

	/**
	 * Reads the record with its members, writes it, and ends a membership. A member whose
	 * lease is over is no member, and its field goes with the next write. A member that
	 * is replaced becomes the owner if it was the last one.
	 */
	static final String MEMBERS = PASS + MEMBER + """
			local function read()
				local lock = {now = micros(), members = {}, count = 0, over = {}, waiting = ''}
				local fields = redis.call('HGETALL', KEYS[1])
				for i = 1, #fields, 2 do
					local name, value = fields[i], fields[i + 1]
					if not string.find(name, '^[+>]') then
						lock[name] = value
					elseif ends(value) > tonumber(lock.now) then
						lock.members[name] = value
						lock.count = lock.count + 1
					else
						lock.over[#lock.over + 1] = name
					end
				end
				return lock
			end
			local function set(changes, name, value)
				changes[#changes + 1] = name
				changes[#changes + 1] = value
			end
			local function add(lock, changes, name, value)
				lock.members[name] = value
				lock.count = lock.count + 1
				set(changes, name, value)
			end
			local function remove(lock, name)
				lock.members[name] = nil
				lock.count = lock.count - 1
				lock.over[#lock.over + 1] = name
			end
			local function reserve(lock, changes, limit)
				local next = 1
				while lock.count < limit and next < 1700 and string.sub(lock.waiting, next + 16, next + 16) == '+' do
					local address = string.sub(lock.waiting, next, next + 15)
					add(lock, changes, reservation(address, lock.now))
					next = next + 17
					notify(address)
				end
				if next > 1 then
					lock.waiting = string.sub(lock.waiting, next)
					set(changes, 'waiting', lock.waiting)
				end
			end
			local function write(lock, changes)
				local beyond = lock.waiting ~= '' and 1000 or 0
				if beyond > 0 then
					set(changes, 'outlived', '+')
				elseif lock.outlived then
					lock.over[#lock.over + 1] = 'outlived'
				end
				if #lock.over > 0 then
					redis.call('HDEL', KEYS[1], unpack(lock.over, 1, math.min(#lock.over, 1000)))
				end
				if #changes > 0 then
					redis.call('HSET', KEYS[1], unpack(changes))
				end
				redis.call('PEXPIRE', KEYS[1],
					math.ceil((lastEnd(lock.members, lock.now) - lock.now) / 1000) + beyond)
			end
			local function nameOther(lock, changes)
				for _, member in pairs(lock.members) do
					local _, _, holder = parts(member)
					if holder then
						set(changes, 'holder', holder)
						return
					end
				end
				lock.over[#lock.over + 1] = 'holder'
			end
			local function drop(name, isReplaced)
				local lock, changes = read(), {}
				local member = lock.members[name]
				if not member then
					return 0
				end
				remove(lock, name)
				if lock.count == 0 and isReplaced and lock.waiting == '' then
					forget(lock.over)
					redis.call('HSET', KEYS[1], 'owner', name)
					return 1
				end
				if lock.count == 0 then
					pass(lock.waiting, lock.over)
					return 1
				end
				reserve(lock, changes, lock.count + #lock.over)
				local _, _, holder = parts(member)
				if holder and holder == lock.holder then
					nameOther(lock, changes)
				end
				write(lock, changes)
				return 1
			end
			""";

	private RedisLua() {
	}

}
