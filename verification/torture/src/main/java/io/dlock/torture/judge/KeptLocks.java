package io.dlock.torture.judge;

import io.dlock.torture.Keys;

/**
 * I20 of the locks that are kept as long as their client runs: a lease is renewed when a
 * third of it is over, and again and again if that fails, so that it is lost only if the
 * store was not well, or the process did not run, for a good part of the rest. A short
 * fault is a reason for a short lease and not for a long one. A store that has forgotten
 * a lock says so at its next renewal.
 */
final class KeptLocks {

	/** The part of the time for renewals that has to be spoilt. */
	private static final int PART = 5;

	private KeptLocks() {
	}

	static void judge(Run run, Findings findings) {
		for (Attempt attempt : run.attempts()) {
			if (Keys.isKept(attempt.key()) && attempt.isGranted() && attempt.isLost()) {
				judge(run, attempt, findings);
			}
		}
	}

	private static void judge(Run run, Attempt attempt, Findings findings) {
		Client client = attempt.client();
		long known = attempt.lossKnown();
		long renewing = attempt.lease() * 2 / 3;
		long spoilt = client.faults().and(client.pauses()).covered(known - renewing, known);
		boolean forgotten = run.quarantines().intersects(known - attempt.lease(), known);
		if (findings.isJudged(Invariant.I20, forgotten || spoilt >= renewing / PART)) {
			findings.violation(Invariant.I20, known,
					"%s with a lease of %.0f ms was lost, but could be renewed for all but %.0f of %.0f ms"
						.formatted(attempt, attempt.lease() / 1e6, spoilt / 1e6, renewing / 1e6));
		}
	}

}
