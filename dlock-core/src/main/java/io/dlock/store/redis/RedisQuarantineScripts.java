package io.dlock.store.redis;

import io.dlock.store.Quarantine;
import io.dlock.store.redis.connection.RedisLockScript;

/**
 * The Lua scripts that grant locks, each with a look at the history of the server before
 * anything else. The last key is the note of the bucket, a hash: the {@code era} in which
 * it was written, the {@code end} of the quarantine in µs of the server's clock, and the
 * {@code longest} lease in ms that any process has named.
 * <p>
 * An era is the {@code run_id} of the server, which changes with each start, and its
 * {@code master_replid}, which changes with each promotion and with each data set that it
 * takes over. Within an era the server forgets nothing, so that a note with the current
 * era was written by this very history. Any other note, or none, begins a quarantine.
 * docs/failover.md has the proof.
 */
final class RedisQuarantineScripts {

	/**
	 * The first value of the answer of a script in quarantine: {2, remaining ms, 1 if it
	 * has just begun}.
	 */
	static final int QUARANTINED = 2;

	/**
	 * An end of zero says that the quarantine is over, whatever happens to the clock. An
	 * end that is too far away was set before the clock was set back.
	 */
	private static final String GUARD = RedisLua.MICROS + """
			local function quarantine()
				local name = KEYS[#KEYS]
				local run = string.match(redis.call('INFO', 'server'), 'run_id:(%%w+)')
				local era = run .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%%w+)')
				local known, stop, longest = unpack(redis.call('HMGET', name, 'era', 'end', 'longest'))
				longest = tonumber(longest or 0)
				if known == era and stop == '0' and longest >= %1$s then
					return
				end
				local now = tonumber(micros())
				stop = tonumber(stop or 0)
				local full = (math.max(longest, %1$s) + %2$s) * 1000
				local begins = known ~= era or stop - now > full
				if begins then
					stop, longest = now + full, math.max(longest, %1$s)
				elseif longest < %1$s then
					stop, longest = stop > 0 and stop + (%1$s - longest) * 1000 or 0, %1$s
				elseif stop > now then
					return math.ceil((stop - now) / 1000), 0
				end
				if stop <= now then
					stop, longest = 0, %1$s
				end
				redis.call('HSET', name, 'era', era, 'end', string.format('%%.0f', stop), 'longest', longest)
				if stop > 0 then
					return math.ceil((stop - now) / 1000), begins and 1 or 0
				end
			end
			local rest, begins = quarantine()
			if rest then
				return {2, rest, begins}
			end
			""";

	/**
	 * KEYS[1] selects the node of a cluster. Answers {0, the id of the run, the version,
	 * the number of replicas without which the server goes on to write}, {1, an error as
	 * a text} or {2, the name of the id that the server does not tell}.
	 */
	static final RedisLockScript CHECK = new RedisLockScript("""
			local ids, version, replicas = {}, '', '0'
			for section, name in pairs({server = 'run_id', replication = 'master_replid'}) do
				local info = redis.pcall('INFO', section)
				if type(info) == 'table' then
					return {1, info.err}
				end
				ids[section] = string.match(info, name .. ':(%w+)')
				if not ids[section] then
					return {2, name}
				end
				version = string.match(info, 'redis_version:([%w.]+)') or version
				if not string.find(info, 'min_slaves_good_slaves:', 1, true) then
					replicas = string.match(info, 'connected_slaves:(%w+)') or replicas
				end
			end
			return {0, ids.server, version, replicas}
			""");

	private final RedisLockScript visit;

	private final RedisLockScript acquire;

	private final RedisLockScript acquireMember;

	private final RedisLockScript exchange;

	RedisQuarantineScripts(Quarantine quarantine) {
		String guard = GUARD.formatted(quarantine.longestLease().toMillis() + 1, quarantine.maxLag().toMillis() + 1);
		this.visit = new RedisLockScript(guard + "return {0}\n");
		this.acquire = RedisLockScripts.ACQUIRE.behind(guard);
		this.acquireMember = RedisMemberScripts.ACQUIRE.behind(guard);
		this.exchange = RedisMemberScripts.EXCHANGE.behind(guard);
	}

	/**
	 * Looks at the history for one bucket.
	 */
	RedisLockScript visit() {
		return this.visit;
	}

	/**
	 * The script that grants, preceded by the guard, which uses an additional key.
	 * @param script one of those that grant without a quarantine
	 */
	RedisLockScript guarded(RedisLockScript script) {
		if (script == RedisLockScripts.ACQUIRE) {
			return this.acquire;
		}
		return (script == RedisMemberScripts.ACQUIRE) ? this.acquireMember : this.exchange;
	}

}
