package io.dlock.torture.judge;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.dlock.torture.Keys;
import io.dlock.torture.judge.Run.Limits;

/**
 * I9: a lease is passed on inside a process for a short time only. As long as it is, the
 * calls of other processes wait, and where the store has forgotten the lease, they have
 * higher tokens.
 */
final class HandOffs {

	/** The default of {@code hand-off.max-duration}. */
	private static final long LONGEST = Duration.ofMillis(10).toNanos();

	private HandOffs() {
	}

	static void judge(Run run, Findings findings) {
		Limits limits = run.limits();
		if (limits.tokensPerLease() == 1) {
			return;
		}
		for (List<Attempt> attempts : run.byKey().values()) {
			Map<Long, Attempt> firsts = new HashMap<>();
			attempts.stream()
				.filter((attempt) -> attempt.isGranted() && limits.isGrantOfStore(attempt))
				.forEach((first) -> firsts.put(limits.lease(first), first));
			for (Attempt attempt : attempts) {
				Attempt first = firsts.get(limits.lease(attempt));
				if (first != null && attempt.isGranted() && !limits.isGrantOfStore(attempt) && isPassedOn(attempt)) {
					judge(run, first, attempt, findings);
				}
			}
		}
	}

	/**
	 * A reader joins a lease. An offer to a call without a thread waits for one, which
	 * may wait for the store. The locks of a set return together.
	 */
	private static boolean isPassedOn(Attempt attempt) {
		return (attempt.isExclusive() || Keys.isLimit(attempt.key())) && !Keys.isAccount(attempt.key())
				&& !attempt.isAsync();
	}

	private static void judge(Run run, Attempt first, Attempt later, Findings findings) {
		long took = later.client().running(first.returned(), later.returned());
		if (later.client().storeFaults().intersects(first.returned(), later.returned())) {
			return;
		}
		findings.judged(Invariant.I9);
		// a permit may be offered to a call that is asking the store
		long asking = Keys.isLimit(later.key()) ? run.limits().call() : 0;
		if (took > LONGEST + asking + run.limits().slack()) {
			findings.violation(Invariant.I9, later.returned(),
					"%s was passed on %.0f ms after the store had granted its lease to %s".formatted(later, took / 1e6,
							first));
		}
	}

}
