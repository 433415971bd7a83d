package io.dlock.torture.judge;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;
import io.dlock.torture.judge.Run.Limits;

/**
 * I9: calls return when they say, in the time in which their process was able to run. A
 * release has no wait limit and may need two commands. A try may wait for a release of
 * its process that is under way, which is as long as a call if the store does not answer.
 * And of I10: a call fails for a reason.
 */
final class Calls {

	/** A call that takes so many times its limit hangs. */
	private static final int HANGING = 10;

	/** A command may be late by that part of its timeout. */
	private static final int HARMLESS_PAUSE_DIVISOR = 4;

	private Calls() {
	}

	static void judge(Run run, Findings findings) {
		Intervals quarantines = run.quarantines();
		for (Attempt attempt : run.attempts()) {
			judgeAcquire(run, attempt, findings);
			judgeOutcome(run, quarantines, attempt, findings);
			judgeRelease(run, attempt, findings);
			judgeInterrupt(run, attempt, findings);
			if (attempt.released() != 0) {
				long locks = Keys.isAccount(attempt.key()) ? Deadlines.MOST_ACCOUNTS : 1;
				judgeTime(attempt, attempt.releaseSent(), attempt.released(),
						2 * locks * run.limits().commandTimeout() + run.limits().slack(), "released", findings);
			}
			if (attempt.nested() != 0 && run.limits().notified()) {
				// the store is not asked
				judgeTime(attempt, attempt.nested() - attempt.nestedTook(), attempt.nested(), run.limits().slack(),
						"acquired again", findings);
			}
		}
	}

	private static void judgeTime(Attempt attempt, long from, long to, long limit, String what, Findings findings) {
		long took = attempt.client().running(from, to);
		if (isJudged(to - from, took, limit, findings) && took > limit) {
			findings.violation(Invariant.I9, from, "%s was %s in %.0f ms".formatted(attempt, what, took / 1e6));
		}
	}

	private static void judgeAcquire(Run run, Attempt attempt, Findings findings) {
		long limit = Deadlines.limit(attempt, run) + calls(attempt) * run.limits().call() + run.limits().slack();
		if (attempt.outcome() == Event.NONE) {
			long hangs = attempt.client().running(attempt.invoked(), attempt.client().last());
			if (isJudged(attempt.client().last() - attempt.invoked(), hangs, HANGING * limit, findings)
					&& hangs > HANGING * limit) {
				findings.violation(Invariant.I9, attempt.invoked(), attempt + " hangs");
			}
			return;
		}
		long took = attempt.client().running(attempt.invoked(), attempt.returned());
		if (isJudged(attempt.returned() - attempt.invoked(), took, limit, findings) && took > limit) {
			findings.violation(Invariant.I9, attempt.invoked(), "%s %s after %.0f ms but may wait %.0f ms"
				.formatted(attempt, attempt.outcome(), took / 1e6, attempt.waitLimit() / 1e6));
		}
	}

	private static int calls(Attempt attempt) {
		boolean tries = attempt.waitLimit() == 0 && !attempt.isAsync();
		return (tries && attempt.client().storeFaults().intersects(attempt.invoked(), attempt.returned())) ? 2 : 1;
	}

	private static boolean isJudged(long took, long running, long limit, Findings findings) {
		return findings.isJudged(Invariant.I9, took > limit && running <= limit);
	}

	/**
	 * The outcome is unknown if the store or the process is not well, a call is
	 * interrupted by its client, and no client closes its locks before its calls have
	 * returned.
	 */
	private static void judgeOutcome(Run run, Intervals quarantines, Attempt attempt, Findings findings) {
		Limits limits = run.limits();
		switch (attempt.outcome()) {
			case INTERRUPTED -> {
				findings.judged(Invariant.I10);
				if (!attempt.isInterruptSent()) {
					failed(attempt, "was interrupted although its client did not interrupt it", findings);
				}
			}
			case QUARANTINED -> {
				findings.judged(Invariant.I10);
				if (!quarantines.intersects(attempt.invoked(), attempt.returned())) {
					failed(attempt, "was told of a quarantine, but the store has forgotten nothing", findings);
				}
			}
			case UNKNOWN -> {
				Client client = attempt.client();
				// another thread may ask the store for it, and have begun before
				long since = attempt.invoked() - limits.commandTimeout() - limits.slack();
				if (findings.isJudged(Invariant.I10, stoodStill(run, client, since, attempt.returned())
						|| client.disturbed(since, attempt.returned()) || isHeldUp(run, attempt, since))) {
					failed(attempt, "failed without a reason after %.0f ms"
						.formatted((attempt.returned() - attempt.invoked()) / 1e6), findings);
				}
			}
			default -> {
			}
		}
	}

	private static boolean stoodStill(Run run, Client client, long from, long to) {
		return client.pauses().covered(from, to) > run.limits().commandTimeout() / HARMLESS_PAUSE_DIVISOR;
	}

	/**
	 * On a quorum, a process that stands still in its call keeps its votes, and the
	 * others may split the rest again and again.
	 */
	private static boolean isHeldUp(Run run, Attempt attempt, long since) {
		return run.isQuorum() && run.attempts()
			.stream()
			.filter((other) -> other.key() == attempt.key() && !other.client().equals(attempt.client()))
			.anyMatch((other) -> stoodStill(run, other.client(), Math.max(since, other.invoked()),
					Math.min(attempt.returned(), (other.returned() != 0) ? other.returned() : Long.MAX_VALUE)));
	}

	/**
	 * An interrupted call ends, at the latest when the store has answered.
	 */
	private static void judgeInterrupt(Run run, Attempt attempt, Findings findings) {
		if (attempt.interrupted() == 0 || attempt.returned() == 0 || !run.limits().notified()) {
			return;
		}
		long took = attempt.client().running(attempt.interrupted(), attempt.returned());
		boolean excused = attempt.client().storeFaults().intersects(attempt.interrupted(), attempt.returned());
		if (findings.isJudged(Invariant.I9, excused) && took > run.limits().call() + run.limits().slack()) {
			findings.violation(Invariant.I9, attempt.returned(),
					"%s %s %.0f ms after its thread was interrupted".formatted(attempt, attempt.outcome(), took / 1e6));
		}
	}

	private static void failed(Attempt attempt, String how, Findings findings) {
		findings.violation(Invariant.I10, attempt.returned(), attempt + " " + how);
	}

	/**
	 * A release of ours never fails ({@link Answers}); of others it may if there is a
	 * fault.
	 */
	private static void judgeRelease(Run run, Attempt attempt, Findings findings) {
		if (attempt.release() == Event.RELEASE_FAILED && !run.limits().notified()
				&& !attempt.client().disturbed(attempt.releaseSent(), attempt.released())) {
			findings.violation(Invariant.I10, attempt.released(), attempt + " could not be released");
		}
	}

}
