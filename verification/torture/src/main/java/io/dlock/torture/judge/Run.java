package io.dlock.torture.judge;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.dlock.torture.Keys;
import io.dlock.torture.history.HistoryRecord;

/**
 * Everything that is known about a campaign.
 *
 * @param limits what may be expected
 * @param clients the processes
 * @param attempts the calls to acquire, ordered by their begin
 * @param resource what the resource wrote down, in the order of arrival
 * @param timeline what the nemesis did
 * @param troubles what the clients printed about locks that are in no history
 * @param checks the other checks
 * @param missing the data that a campaign writes down and this one did not
 * @param options what the campaign was asked to do
 * @param leftovers what there was before and after
 * @param machine when the machine was slow
 */
record Run(Limits limits, List<Client> clients, List<Attempt> attempts, List<HistoryRecord> resource, Timeline timeline,
		List<Trouble> troubles, List<Check> checks, List<String> missing, Map<String, String> options,
		List<Leftover> leftovers, Intervals machine) {

	/**
	 * Whether the store is a majority of several.
	 */
	boolean isQuorum() {
		return "REDIS_QUORUM".equals(this.options.get("store"));
	}

	/**
	 * The attempts on each key, ordered by their begin.
	 */
	Map<Integer, List<Attempt>> byKey() {
		Map<Integer, List<Attempt>> byKey = new TreeMap<>();
		this.attempts
			.forEach((attempt) -> byKey.computeIfAbsent(attempt.key(), (key) -> new ArrayList<>()).add(attempt));
		return byKey;
	}

	/**
	 * The attempts on each key that is locked alone, by one call at a time, ordered by
	 * their begin. A call for several accounts may hold one of them while it waits for
	 * another, so that it is not known how long a single account was free.
	 */
	Map<Integer, List<Attempt>> byKeyLockedAlone() {
		Map<Integer, List<Attempt>> byKey = byKey();
		byKey.keySet().removeIf((key) -> Keys.isAccount(key) || Keys.isPlace(key));
		return byKey;
	}

	/**
	 * The times in which the store may grant no lock because it may have forgotten some.
	 * The first call that reaches it begins that, which is a lease late at most.
	 */
	Intervals quarantines() {
		return isQuarantined() ? this.timeline.quarantines().extended(this.limits.recovery() + this.limits.lease())
				: Intervals.NONE;
	}

	/**
	 * Whether no lock is granted for a while when the store may have forgotten some.
	 */
	boolean isQuarantined() {
		return Boolean.parseBoolean(this.options.get("quarantine"));
	}

	/**
	 * Whether the campaign was to have some of a thing.
	 * @param option the name of the option
	 * @return whether a number of it was asked for
	 */
	boolean isAsked(String option) {
		return isAsked(this.options, option);
	}

	static boolean isAsked(Map<String, String> options, String option) {
		return !"0".equals(options.getOrDefault(option, "0"));
	}

	/**
	 * Whether each fault was inflicted once, as fast as possible.
	 */
	boolean isBrief() {
		return isBrief(this.options);
	}

	static boolean isBrief(Map<String, String> options) {
		return Duration.ZERO.toString().equals(options.get("duration"));
	}

	/**
	 * The number of clients at a time: one that was killed was started again.
	 */
	int numberOfClients() {
		return (int) this.clients.stream().map((client) -> client.header().client()).distinct().count();
	}

	/**
	 * The limits that may be expected of the contender on this machine.
	 *
	 * @param lease the default lease
	 * @param commandTimeout the longest wait for its store
	 * @param poll how often a waiting process looks at a busy lock at least
	 * @param fenced whether there are fencing tokens
	 * @param notified whether a holder is told that its lock is lost
	 * @param tokensPerLease how many holders of one process a grant of the store has room
	 * for, each with a token of its own: the first has a multiple of it
	 * @param slack what the machine may add to any time
	 */
	record Limits(long lease, long commandTimeout, long poll, boolean fenced, boolean notified, long tokensPerLease,
			long slack) {

		/** The default command timeout is this part of a lease. */
		private static final int COMMANDS_PER_LEASE = 10;

		/**
		 * The time for which a key that is free may be kept from waiting calls: a turn is
		 * kept for the first in the queue for two polls, and polled for once more.
		 */
		long patience() {
			return turn() + this.poll + this.slack;
		}

		/**
		 * The time that a call to the store may take. A call to a database waits as long
		 * as a command for a place among the connections of the locks, and then as long
		 * as the pool does for a connection, which is longer than a command.
		 */
		long call() {
			long command = this.lease / COMMANDS_PER_LEASE;
			return (this.commandTimeout > command) ? command + this.commandTimeout : this.commandTimeout;
		}

		/**
		 * The time below which a call has not failed for want of an answer: the shortest
		 * wait for a place among the connections of a database, or half of a command. A
		 * release that took longer may be repeated in the background.
		 */
		long answered() {
			return Math.min(this.lease / COMMANDS_PER_LEASE, this.commandTimeout) / 2;
		}

		/**
		 * The time that the store may need to be well again after a fault, and a client
		 * that waits a poll to notice.
		 */
		long recovery() {
			return 3 * this.commandTimeout + this.poll;
		}

		/**
		 * The time for which a turn is kept for a process that may have left.
		 */
		long turn() {
			return 2 * this.poll;
		}

		/**
		 * Whether a hold got its lock from the store, and not from who held it before in
		 * the same process.
		 */
		boolean isGrantOfStore(Attempt hold) {
			return hold.token() % this.tokensPerLease == 0;
		}

		long lease(Attempt hold) {
			return Math.floorDiv(hold.token(), this.tokensPerLease);
		}

	}

	/**
	 * A check that was made while the processes still ran.
	 *
	 * @param invariant the invariant, such as {@code I11}
	 * @param holds whether all was well
	 * @param text the problem, or the thing that was looked at
	 */
	record Check(String invariant, boolean holds, String text) {

	}

}
