package io.dlock.torture.judge;

import java.time.Duration;

import io.dlock.torture.Keys;

/**
 * I9 of the calls that ask for a future: no thread waits for the store on their behalf,
 * so they end shortly after their wait time even if the store does not answer and there
 * are very many of them.
 */
final class Deadlines {

	private static final long PROMPTLY = Duration.ofMillis(250).toNanos();

	private static final long ONE_CALL = Duration.ofSeconds(1).toNanos();

	static final int MOST_ACCOUNTS = 4;

	private Deadlines() {
	}

	static void judge(Run run, Findings findings) {
		long late = Math.max(PROMPTLY, run.limits().slack());
		for (Attempt attempt : run.attempts()) {
			if (attempt.isAsync()) {
				long ended = (attempt.returned() != 0) ? attempt.returned() : attempt.client().last();
				long took = attempt.client().running(attempt.invoked(), ended);
				if (took > limit(attempt, run) + late) {
					findings.violation(Invariant.I9, ended,
							"the future of %s ended with %s after %.0f ms, its wait time is %.0f ms".formatted(attempt,
									attempt.outcome(), took / 1e6, attempt.waitLimit() / 1e6));
				}
			}
		}
	}

	/**
	 * A request that does not wait asks once, for which it has a command timeout, and at
	 * least a second. One for several accounts asks once for each that is left when its
	 * wait is over.
	 */
	static long limit(Attempt attempt, Run run) {
		if (Keys.isAccount(attempt.key())) {
			return attempt.waitLimit() + MOST_ACCOUNTS * Math.max(ONE_CALL, run.limits().commandTimeout());
		}
		return (attempt.waitLimit() > 0 || !attempt.isAsync()) ? attempt.waitLimit()
				: Math.max(ONE_CALL, run.limits().commandTimeout());
	}

}
