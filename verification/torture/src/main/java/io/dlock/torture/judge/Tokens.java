package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * I3 and I4: tokens rise from grant to grant, and belong to one hold each. A grant is
 * later than another if its call began after the other had returned; of calls that
 * overlap nothing is known.
 */
final class Tokens {

	private Tokens() {
	}

	static void judge(Run run, Findings findings) {
		for (List<Attempt> attempts : run.byKey().values()) {
			List<Attempt> grants = attempts.stream()
				.filter((attempt) -> attempt.isGranted() && attempt.token() != 0)
				.toList();
			judgeOrder(grants, findings);
			judgeIdentity(grants, findings);
		}
	}

	private static void judgeOrder(List<Attempt> byBegin, Findings findings) {
		List<Attempt> byReturn = byBegin.stream().sorted(Comparator.comparingLong(Attempt::returned)).toList();
		Attempt highest = null;
		int returned = 0;
		for (Attempt grant : byBegin) {
			while (returned < byReturn.size() && byReturn.get(returned).returned() < grant.invoked()) {
				Attempt earlier = byReturn.get(returned++);
				highest = (highest == null || earlier.token() > highest.token()) ? earlier : highest;
			}
			if (highest != null && grant.token() <= highest.token()) {
				findings.violation(Invariant.I3, grant.returned(), grant + " was granted after " + highest);
			}
		}
	}

	private static void judgeIdentity(List<Attempt> grants, Findings findings) {
		Map<Long, Attempt> owners = new HashMap<>();
		for (Attempt grant : grants) {
			Attempt other = owners.put(grant.token(), grant);
			if (other != null) {
				findings.violation(Invariant.I4, grant.returned(), grant + " has the token of " + other);
			}
			if (grant.isTokenChanged()) {
				findings.violation(Invariant.I4, grant.returned(), grant + " showed another token later");
			}
		}
	}

}
