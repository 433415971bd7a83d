package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.Keys;

/**
 * I3 and I4: tokens rise from grant to grant, and belong to one hold each. A grant is
 * later than another if the store cannot have given it before the other had returned;
 * else nothing is known. A call may have waited long before: the lease tells when the
 * request was sent.
 * <p>
 * A client that loses a lock with the data of the store does not know it yet, and may
 * pass it on inside its process for a while, with tokens below those of the next holder
 * by the store. So where the store has lost something, tokens have to rise from grant to
 * grant of the store, and along each lease; that is all that was ever promised there. And
 * if its clock was set back before it lost its data, even the store may begin again with
 * lower tokens.
 * <p>
 * A shared hold may join another of its process and has its token then: it is higher than
 * those of the exclusive holds before. Those of permits need not rise.
 */
final class Tokens {

	private Tokens() {
	}

	static void judge(Run run, Findings findings) {
		for (List<Attempt> attempts : run.byKey().values()) {
			List<Attempt> grants = attempts.stream()
				.filter((attempt) -> attempt.isGranted() && attempt.token() != 0)
				.toList();
			if (run.timeline().isLossy()) {
				judgeOrder(run, grants.stream().filter(run.limits()::isGrantOfStore).toList(), findings);
				grants.stream()
					.collect(Collectors.groupingBy(run.limits()::lease, TreeMap::new, Collectors.toList()))
					.values()
					.forEach((lease) -> judgeOrder(run, lease, findings));
			}
			else {
				judgeOrder(run, grants, findings);
			}
			judgeIdentity(run, grants, findings);
		}
	}

	private static void judgeOrder(Run run, List<Attempt> grants, Findings findings) {
		List<Attempt> byBegin = grants.stream()
			.sorted(Comparator.comparingLong((grant) -> grantedSince(run, grant)))
			.toList();
		List<Attempt> byReturn = byBegin.stream().sorted(Comparator.comparingLong(Attempt::returned)).toList();
		Attempt highest = null;
		Attempt highestExclusive = null;
		int returned = 0;
		for (Attempt grant : byBegin) {
			long since = grantedSince(run, grant);
			while (returned < byReturn.size() && byReturn.get(returned).returned() < since) {
				Attempt earlier = byReturn.get(returned++);
				highest = higher(highest, earlier);
				highestExclusive = earlier.isExclusive() ? higher(highestExclusive, earlier) : highestExclusive;
			}
			Attempt before = grant.isExclusive() ? highest : highestExclusive;
			boolean falls = before != null && grant.token() <= before.token();
			if (findings.isJudged(Invariant.I3, falls && isForgotten(run, before, grant)) && falls) {
				findings.violation(Invariant.I3, grant.returned(), grant + " was granted after " + before);
			}
		}
	}

	private static Attempt higher(@Nullable Attempt one, Attempt other) {
		return (one == null || other.token() > one.token()) ? other : one;
	}

	/**
	 * The earliest time at which the store can have given a grant. The lease of a grant
	 * of the store counts from its request, unless it was renewed before the process saw
	 * it, because the process did not run.
	 */
	static long grantedSince(Run run, Attempt grant) {
		long since = grant.grantedSince();
		boolean renewed = grant.isRenewed()
				&& grant.client().pauses().intersects(since - grant.lease(), grant.returned());
		return (run.limits().isGrantOfStore(grant) && !renewed) ? since : grant.invoked();
	}

	/**
	 * A store mints a token from its clock if it cannot remember the last one.
	 */
	private static boolean isForgotten(Run run, @Nullable Attempt highest, Attempt grant) {
		Timeline timeline = run.timeline();
		return highest != null && timeline.storeClockSetBack() < grant.returned()
				&& timeline.dataLosses().intersects(highest.invoked(), grant.returned());
	}

	/**
	 * The readers of a process share a lease.
	 */
	private static boolean areJoined(Attempt one, Attempt other) {
		return !one.isExclusive() && !other.isExclusive() && !Keys.isLimit(one.key())
				&& one.client().equals(other.client());
	}

	private static void judgeIdentity(Run run, List<Attempt> grants, Findings findings) {
		Map<Long, Attempt> owners = new HashMap<>();
		Map<Long, Attempt> leases = new HashMap<>();
		for (Attempt grant : grants) {
			findings.judged(Invariant.I4);
			Attempt other = owners.put(grant.token(), grant);
			if (other != null && !areJoined(other, grant)) {
				findings.violation(Invariant.I4, grant.returned(), grant + " has the token of " + other);
			}
			Attempt first = leases.putIfAbsent(run.limits().lease(grant), grant);
			if (first != null && !first.client().equals(grant.client())) {
				findings.violation(Invariant.I4, grant.returned(), grant + " has the lease of " + first);
			}
			if (grant.isTokenChanged()) {
				findings.violation(Invariant.I4, grant.returned(), grant + " showed another token later");
			}
		}
	}

}
