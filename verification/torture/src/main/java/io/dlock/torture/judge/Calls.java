package io.dlock.torture.judge;

import io.dlock.torture.history.Event;

/**
 * I9: calls return when they say, in the time in which their process was able to run. A
 * release has no wait limit and may need two commands.
 */
final class Calls {

	/** A call that takes so many times its limit hangs. */
	private static final int HANGING = 10;

	private Calls() {
	}

	static void judge(Run run, Findings findings) {
		for (Attempt attempt : run.attempts()) {
			judgeAcquire(run, attempt, findings);
			judgeFailure(run, attempt, findings);
			if (attempt.released() != 0) {
				long took = attempt.client().running(attempt.releaseSent(), attempt.released());
				if (took > 2 * run.limits().commandTimeout() + run.limits().slack()) {
					findings.violation(Invariant.I9, attempt.releaseSent(),
							"%s was released in %.0f ms".formatted(attempt, took / 1e6));
				}
			}
		}
	}

	private static void judgeAcquire(Run run, Attempt attempt, Findings findings) {
		long limit = attempt.waitLimit() + run.limits().commandTimeout() + run.limits().slack();
		if (attempt.outcome() == Event.NONE) {
			if (attempt.client().running(attempt.invoked(), attempt.client().last()) > HANGING * limit) {
				findings.violation(Invariant.I9, attempt.invoked(), attempt + " hangs");
			}
			return;
		}
		long took = attempt.client().running(attempt.invoked(), attempt.returned());
		if (took > limit) {
			findings.violation(Invariant.I9, attempt.invoked(), "%s %s after %.0f ms but may wait %.0f ms"
				.formatted(attempt, attempt.outcome(), took / 1e6, attempt.waitLimit() / 1e6));
		}
		if (attempt.outcome() == Event.FAILED) {
			findings.violation(Invariant.I10, attempt.returned(), attempt + " failed in a way nobody documents");
		}
	}

	/**
	 * A release of ours never fails; of others it may if there is a fault.
	 */
	private static void judgeFailure(Run run, Attempt attempt, Findings findings) {
		if (attempt.release() == Event.RELEASE_FAILED && (run.limits().notified()
				|| !attempt.client().disturbed(attempt.releaseSent(), attempt.released()))) {
			findings.violation(Invariant.I10, attempt.released(), attempt + " could not be released");
		}
	}

}
