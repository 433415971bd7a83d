package io.dlock.torture.judge;

import io.dlock.torture.judge.Run.Limits;

/**
 * I9, I10, I14 and I20 of the locks that are in no history: no other client uses their
 * keys, so each call has to be granted at once, and no lock may be lost, but for a fault
 * of the store, or if the process did not run.
 */
final class Troubles {

	/** A call or a renewal may be late by that part of the lease. */
	private static final int HARMLESS_PAUSE_DIVISOR = 10;

	private Troubles() {
	}

	static void judge(Run run, Findings findings) {
		Intervals quarantines = run.quarantines();
		for (Trouble trouble : run.troubles()) {
			run.clients()
				.stream()
				.filter((client) -> client.toString().equals(trouble.client()))
				.forEach((client) -> judge(run.limits(), quarantines, client, trouble, findings));
		}
	}

	private static void judge(Limits limits, Intervals quarantines, Client client, Trouble trouble, Findings findings) {
		switch (trouble.event()) {
			case GRANTED -> judgeTime(limits, client, trouble, findings);
			case UNKNOWN -> {
				judgeTime(limits, client, trouble, findings);
				if (!isExcused(limits, client, trouble.from(), trouble.to())) {
					violation(Invariant.I14, trouble, "failed without a reason", findings);
				}
			}
			case QUARANTINED -> {
				if (!quarantines.intersects(trouble.from(), trouble.to())) {
					violation(Invariant.I10, trouble, "was told of a quarantine, but the store has forgotten nothing",
							findings);
				}
			}
			// whatever happens to the store, the key is free
			case REFUSED -> violation(Invariant.I14, trouble, "was refused but no other client uses the key", findings);
			case LOST, RELEASED_LOST -> {
				boolean faulty = client.isLossExcusedByFault(trouble.to(), trouble.lease(limits), limits.slack());
				boolean slow = client.isLossExcusedByMachine(trouble.to(), trouble.lease(limits), limits.slack());
				if (findings.isJudged(Invariant.I20, faulty || slow)) {
					violation(Invariant.I20, trouble, "was called lost without a reason", findings);
				}
				else if (!faulty) {
					findings.lostToMachine();
				}
			}
			case RELEASE_FAILED -> {
				if (limits.notified() || !isExcused(limits, client, trouble.from(), trouble.to())) {
					violation(Invariant.I10, trouble, "could not be released", findings);
				}
			}
			default -> violation(Invariant.I10, trouble, "ended with " + trouble.event(), findings);
		}
	}

	private static void judgeTime(Limits limits, Client client, Trouble trouble, Findings findings) {
		long took = client.running(trouble.from(), trouble.to());
		if (took > trouble.waitLimit() + limits.commandTimeout() + limits.slack()) {
			violation(Invariant.I9, trouble, "%s after %.0f ms but may wait %.0f ms".formatted(trouble.event(),
					took / 1e6, trouble.waitLimit() / 1e6), findings);
		}
		else if (took > 3 * limits.poll() + limits.slack()
				&& !client.storeFaults().intersects(trouble.from(), trouble.to())) {
			violation(Invariant.I14, trouble, "was %s after %.0f ms".formatted(trouble.event(), took / 1e6), findings);
		}
	}

	private static boolean isExcused(Limits limits, Client client, long from, long to) {
		return client.disturbed(from, to)
				|| client.pauses().covered(from, to) > limits.lease() / HARMLESS_PAUSE_DIVISOR;
	}

	private static void violation(Invariant invariant, Trouble trouble, String what, Findings findings) {
		findings.violation(invariant, trouble.to(), trouble + ": " + what);
	}

}
