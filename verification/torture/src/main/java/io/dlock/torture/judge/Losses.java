package io.dlock.torture.judge;

import io.dlock.torture.judge.Run.Limits;

/**
 * I6 and one half of I10: a holder learns in time that its lock is lost, and is not told
 * so without a reason.
 * <p>
 * The deadline of a lease that is not renewed is the one it published. That of a renewed
 * one may have moved since its last check, but is over at the check that finds it lost. A
 * check that finds a loss tells the listener itself; so some holders look at the deadline
 * before it, and not again until the listener has to know. (A client that loses the data
 * of its store loses its lock without a deadline.) Only time in which the process was
 * able to run counts.
 */
final class Losses {

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
				judgeReason(run.limits(), attempt, findings);
			}
		}
	}

	private static void judgeKnown(Run run, Attempt attempt, Findings findings) {
		boolean unasked = attempt.overSince() != 0 && !run.timeline().isLossy();
		long over = attempt.isRenewed() ? attempt.foundLost() : attempt.validUntil();
		over = unasked ? attempt.overSince() : over;
		if (over == 0) {
			return;
		}
		long known = (attempt.isRenewed() || unasked) ? listener(attempt) : attempt.lossKnown();
		long heldOn = (attempt.releaseSent() != 0) ? attempt.releaseSent() : attempt.client().last();
		long end = Math.min(known, heldOn);
		boolean late = attempt.client().running(over, end) > run.limits().slack();
		if (findings.isJudged(Invariant.I6, !late && end - over > run.limits().slack()) && late) {
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
	private static void judgeReason(Limits limits, Attempt attempt, Findings findings) {
		Client client = attempt.client();
		long known = attempt.isLost() ? attempt.lossKnown() : attempt.end();
		boolean faulty = client.isLossExcusedByFault(known, attempt.lease(), limits.slack());
		boolean slow = client.isLossExcusedByMachine(known, attempt.lease(), limits.slack());
		boolean early = attempt.validUntil() != 0 && known < attempt.validUntil() - CLOCK_TICK;
		boolean unexpected = attempt.isLost() && (attempt.isRenewed() || early);
		if (findings.isJudged(Invariant.I10, faulty || slow) && unexpected) {
			findings.violation(Invariant.I10, known, attempt + " was called lost without a reason");
		}
		else if (unexpected && !faulty) {
			findings.lostToMachine();
		}
	}

}
