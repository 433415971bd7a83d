package io.dlock.torture.judge;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.dlock.torture.judge.Run.Limits;

/**
 * I6 and I20: a holder learns in time that its lock is lost, and is not told so without a
 * reason.
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

	/**
	 * A process may be stopped after the last look at a grant and before its caller has
	 * it, which takes microseconds.
	 */
	private static final int FEW_STOPPED = 2;

	private static final int STOPS_PER_STOPPED = 50;

	private Losses() {
	}

	static void judge(Run run, Findings findings) {
		Map<Integer, List<TimelineEvent>> steps = new HashMap<>();
		long stopped = FEW_STOPPED + run.timeline().stops() / STOPS_PER_STOPPED;
		for (Attempt attempt : run.attempts()) {
			if (run.limits().notified() && isNeverValid(attempt)) {
				stopped -= isStopped(attempt) ? 1 : 0;
				if (findings.isJudged(Invariant.I10, isStopped(attempt) && stopped >= 0)) {
					findings.violation(Invariant.I10, attempt.returned(),
							attempt + " was granted but has never been valid");
				}
			}
			if (attempt.isGranted() && attempt.heldFrom() != 0) {
				if (run.limits().notified()) {
					judgeKnown(run, attempt, findings);
					judgeTurned(run, attempt,
							steps.computeIfAbsent(attempt.client().header().client(), run.timeline()::clockSteps),
							findings);
				}
				judgeReason(run.limits(), attempt, findings);
			}
		}
	}

	/**
	 * A wall clock that is set forward by more than a lease ends those that have begun: a
	 * machine that was suspended looks like that. A process that stands still may miss
	 * the step.
	 */
	private static void judgeTurned(Run run, Attempt attempt, List<TimelineEvent> steps, Findings findings) {
		for (TimelineEvent step : steps) {
			boolean held = attempt.heldFrom() < step.nanos()
					&& !attempt.client().pauses().intersects(step.nanos(), step.nanos() + run.limits().slack())
					&& attempt.client().running(step.nanos(), attempt.end()) > run.limits().slack();
			if (held && TimeUnit.MILLISECONDS.toNanos(step.amount()) > attempt.lease()) {
				findings.judged(Invariant.I6);
				if (attempt.client().running(step.nanos(), attempt.heldUntil()) > run.limits().slack()) {
					findings.violation(Invariant.I6, step.nanos(),
							"%s is valid though the clock of its process was set forward by %d ms".formatted(attempt,
									step.amount()));
				}
			}
		}
	}

	/**
	 * A grant for which nothing is left is not given to a caller. That of a future takes
	 * a moment to reach another thread.
	 */
	private static boolean isNeverValid(Attempt attempt) {
		return attempt.isGranted() && !attempt.isAsync() && attempt.heldFrom() == 0 && attempt.foundLost() != 0
				&& attempt.grantedUntil() == 0;
	}

	private static boolean isStopped(Attempt attempt) {
		Client client = attempt.client();
		return client.pauses().intersects(attempt.invoked(), attempt.foundLost())
				|| client.disturbed(attempt.invoked(), attempt.foundLost());
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
		if (end <= over) {
			// it was released before its deadline
			return;
		}
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
		if (findings.isJudged(Invariant.I20, faulty || slow) && unexpected) {
			findings.violation(Invariant.I20, known, attempt + " was called lost without a reason");
		}
		else if (unexpected && !faulty) {
			findings.lostToMachine();
		}
	}

}
