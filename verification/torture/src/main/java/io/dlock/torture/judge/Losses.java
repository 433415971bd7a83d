package io.dlock.torture.judge;

/**
 * I6 and one half of I10: a holder learns in time that its lock is lost, and is not told
 * so without a reason.
 * <p>
 * The deadline of a lease that is not renewed is the one it published. That of a renewed
 * one may have moved since its last check, but is over at the check that finds it lost.
 * Only time in which the process was able to run counts.
 */
final class Losses {

	/** A renewal may be late by a part of the lease before anything is lost. */
	private static final int HARMLESS_PAUSE_DIVISOR = 10;

	/**
	 * A lease ends by the monotonic clock or the wall clock, which counts milliseconds: a
	 * deadline may come nearer by one.
	 */
	private static final long CLOCK_TICK = 1_000_000;

	private Losses() {
	}

	static void judge(Run run, Findings findings) {
		for (Attempt attempt : run.attempts()) {
			if (attempt.isGranted() && attempt.heldFrom() != 0) {
				if (run.limits().notified()) {
					judgeKnown(run, attempt, findings);
				}
				judgeReason(attempt, findings);
			}
		}
	}

	private static void judgeKnown(Run run, Attempt attempt, Findings findings) {
		long over = attempt.isRenewed() ? attempt.foundLost() : attempt.validUntil();
		if (over == 0) {
			return;
		}
		long known = attempt.isRenewed() ? listener(attempt) : attempt.lossKnown();
		long heldOn = (attempt.releaseSent() != 0) ? attempt.releaseSent() : attempt.client().last();
		if (attempt.client().running(over, Math.min(known, heldOn)) > run.limits().slack()) {
			findings.violation(Invariant.I6, over,
					attempt + ((known <= heldOn) ? " learned %.0f ms late of its loss".formatted((known - over) / 1e6)
							: " was never told of its loss"));
		}
	}

	private static long listener(Attempt attempt) {
		return (attempt.lost() != 0) ? attempt.lost() : Long.MAX_VALUE;
	}

	/**
	 * Without any fault, a renewed lease is not lost, and no lease before its deadline.
	 */
	private static void judgeReason(Attempt attempt, Findings findings) {
		if (!attempt.isLost()) {
			return;
		}
		Client client = attempt.client();
		long known = attempt.lossKnown();
		boolean excused = client.disturbed(known - 2 * attempt.lease(), known) || client.pauses()
			.covered(known - 2 * attempt.lease(), known) > attempt.lease() / HARMLESS_PAUSE_DIVISOR;
		boolean early = attempt.validUntil() != 0 && known < attempt.validUntil() - CLOCK_TICK;
		if (!excused && (attempt.isRenewed() || early)) {
			findings.violation(Invariant.I10, known, attempt + " was called lost without a reason");
		}
	}

}
