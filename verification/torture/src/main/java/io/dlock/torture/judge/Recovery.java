package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.dlock.torture.judge.Intervals.Interval;

/**
 * I8 in figures: how long a lock was not granted after its holder was killed, and after
 * the store was healed.
 */
final class Recovery {

	static final int TIMEOUTS_AFTER_HEAL = 3;

	/**
	 * A client that asked so shortly before its death knew how long its lease was.
	 */
	private static final long RECENTLY = 50_000_000;

	/**
	 * The part of a lease that a process may stand still without being late for that
	 * reason.
	 */
	private static final int HARMLESS_PAUSE_DIVISOR = 10;

	private Recovery() {
	}

	/**
	 * The locks that went with their holder while a request waited for them that began
	 * before the lease can have been over, and got the lock next. Only where it is
	 * certain that nothing else was in the way: from the death to the grant the store and
	 * the network of every client were well, no other client was killed, and none stood
	 * still.
	 */
	static List<Death> deaths(Run run) {
		List<Death> deaths = new ArrayList<>();
		for (List<Attempt> attempts : run.byKeyLockedAlone().values()) {
			List<Attempt> grants = byReturn(attempts);
			for (int i = 0; i + 1 < grants.size(); i++) {
				Attempt dead = grants.get(i);
				Attempt heir = grants.get(i + 1);
				if (diedHolding(dead) && heir.invoked() < waitedFor(dead) && isCertain(run, dead.client(), heir)) {
					deaths.add(Death.of(dead, heir));
				}
			}
		}
		return deaths;
	}

	static boolean diedHolding(Attempt dead) {
		long killed = dead.client().killed();
		boolean over = !dead.isRenewed() && dead.validUntil() != 0 && dead.validUntil() <= killed;
		return killed != 0 && dead.releaseSent() == 0 && !dead.isLost() && !over;
	}

	/** The lock was not free before. */
	private static long waitedFor(Attempt dead) {
		return Math.max(dead.client().killed(), dead.validUntil());
	}

	private static boolean isCertain(Run run, Client dead, Attempt heir) {
		long killed = dead.killed();
		long granted = heir.returned();
		return granted > killed && run.clients()
			.stream()
			.noneMatch((client) -> client.storeFaults().intersects(killed, granted)
					|| client.pauses().covered(killed, granted) > run.limits().lease() / HARMLESS_PAUSE_DIVISOR
					|| (!client.equals(dead) && client.killed() >= killed && client.killed() <= granted));
	}

	/**
	 * From the end of a fault of the store to the first grant. Only where the fault
	 * lasted longer than a command may, and where it is certain that a client could have
	 * got a lock: the next fault of the store came later, and some client had no trouble
	 * of its own. Faults in which locks were granted until the end say nothing about
	 * recovery, unless there was a gap after them. A time in which all clients waited for
	 * locks that were held, or that a client in trouble of its own may have been granted
	 * without knowing, is not one of recovery.
	 * @return nanoseconds
	 */
	static List<Long> afterHeal(Run run) {
		List<Attempt> grants = byReturn(run.attempts());
		Map<Client, Long> witnesses = new HashMap<>();
		run.attempts().forEach((attempt) -> witnesses.merge(attempt.client(), attempt.invoked(), Math::min));
		Wanted wanted = new Wanted(run);
		Intervals outages = run.timeline().outages();
		List<Long> samples = new ArrayList<>();
		for (Interval outage : outages.all()) {
			int next = firstAfter(grants, outage.to());
			if (next < grants.size() && outage.to() - outage.from() > run.limits().commandTimeout()) {
				Attempt first = grants.get(next);
				long took = first.client().running(outage.to(), first.returned());
				long before = (next > 0) ? grants.get(next - 1).returned() : Long.MIN_VALUE;
				boolean gap = before < outage.to() - run.limits().commandTimeout()
						|| took > run.limits().commandTimeout();
				if (gap && !outages.intersects(outage.to() + 1, first.returned())
						&& isWitnessed(run, witnesses, outage.to(), first.returned())) {
					long since = wanted.between(outage.to(), first.returned());
					if (since < first.returned()) {
						samples.add(first.client().running(since, first.returned()));
					}
				}
			}
		}
		return samples;
	}

	private static boolean isWitnessed(Run run, Map<Client, Long> since, long healed, long granted) {
		long after = TIMEOUTS_AFTER_HEAL * run.limits().commandTimeout() + run.limits().poll();
		return since.entrySet().stream().anyMatch((entry) -> {
			Client client = entry.getKey();
			Intervals own = run.timeline().ownFaults(client.header().client()).extended(after);
			return entry.getValue() <= healed && client.last() >= granted && !own.intersects(healed, granted);
		});
	}

	private static int firstAfter(List<Attempt> byReturn, long time) {
		int low = 0;
		int high = byReturn.size();
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (byReturn.get(middle).returned() <= time) {
				low = middle + 1;
			}
			else {
				high = middle;
			}
		}
		return low;
	}

	private static List<Attempt> byReturn(List<Attempt> attempts) {
		return attempts.stream()
			.filter(Attempt::isGranted)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
	}

	/**
	 * The limit is a lease more than the target: a client may have been granted a lock
	 * without knowing it while the store was not well.
	 */
	static void judge(Run run, Findings findings) {
		long limit = TIMEOUTS_AFTER_HEAL * run.limits().commandTimeout() + run.limits().slack() + run.limits().lease();
		for (long took : afterHeal(run)) {
			findings.judged(Invariant.I8);
			if (took > limit) {
				findings.violation(Invariant.I8, 0,
						"The first lock after the store was healed took %.0f ms".formatted(took / 1e6));
			}
		}
		new Inheritance(run).judge(findings);
	}

	/**
	 * A lock that was held by a process that was killed.
	 *
	 * @param beyondLease from the death to the next grant, less a lease; negative if the
	 * lease had begun earlier
	 * @param beyondEnd from the end of the lease to the next grant; -1 if it is not
	 * known, because the holder had not asked for a while
	 */
	record Death(long beyondLease, long beyondEnd) {

		private static Death of(Attempt dead, Attempt heir) {
			long killed = dead.client().killed();
			boolean known = dead.validUntil() != 0 && (!dead.isRenewed() || dead.heldUntil() >= killed - RECENTLY);
			long end = Math.max(killed, dead.validUntil());
			return new Death(heir.client().running(killed, heir.returned()) - dead.lease(),
					known ? Math.max(0, heir.client().running(end, heir.returned())) : -1);
		}

	}

}
