package io.dlock.torture.judge;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.dlock.torture.history.Event;

/**
 * I19: answers that are right or wrong however slow the machine is, and whatever happened
 * to the store. No call is told busy before its wait is over, ends in an undocumented way
 * or because of a shutdown that was not asked for; no release fails, or succeeds after
 * its holder was told of a loss; a holder is granted its lock again; and the assertion
 * that a lock is held agrees with the question.
 */
final class Answers {

	/** The wait of a call begins after its record. */
	private static final long CLOCK_TICK = 1_000_000;

	private Answers() {
	}

	static void judge(Run run, Findings findings) {
		boolean ours = run.limits().notified();
		Map<Client, Set<Long>> downgraded = ours ? failedDowngrades(run) : Map.of();
		for (Attempt attempt : run.attempts()) {
			switch (attempt.outcome()) {
				case FAILED -> wrong(attempt, "failed in an undocumented way", findings);
				case CLOSED -> wrong(attempt, "was refused by a shutdown without a request for it", findings);
				case REFUSED -> {
					if (ours && attempt.waitLimit() > 0) {
						judgeWait(attempt, findings);
					}
				}
				default -> {
				}
			}
			if (ours && !downgraded.getOrDefault(attempt.client(), Set.of()).contains(attempt.number())) {
				judgeRelease(attempt, findings);
			}
			if (ours) {
				judgeHolder(attempt, findings);
			}
		}
	}

	/**
	 * The wait ends by the monotonic clock of the process, which does not stand still
	 * when the process does.
	 */
	private static void judgeWait(Attempt attempt, Findings findings) {
		findings.judged(Invariant.I19);
		long waited = attempt.returned() - attempt.invoked();
		if (waited < attempt.waitLimit() - CLOCK_TICK) {
			wrong(attempt, "was told busy after %.1f ms but may wait %.0f ms".formatted(waited / 1e6,
					attempt.waitLimit() / 1e6), findings);
		}
	}

	/**
	 * A lock is lost or released by one step.
	 */
	private static void judgeRelease(Attempt attempt, Findings findings) {
		if (attempt.release() == Event.RELEASE_FAILED) {
			wrong(attempt, "could not be released", findings);
		}
		else if (attempt.release() != Event.NONE && attempt.isLostBeforeRelease()) {
			findings.judged(Invariant.I19);
			if (attempt.release() == Event.RELEASED) {
				wrong(attempt, "was released though its holder had been told of its loss", findings);
			}
		}
	}

	private static void judgeHolder(Attempt attempt, Findings findings) {
		if (attempt.nested() != 0) {
			findings.judged(Invariant.I19);
		}
		if (attempt.nestedRefused() != 0) {
			wrong(attempt, "is valid but was not granted to its holder again", findings);
		}
		if (attempt.contradicted() != 0) {
			wrong(attempt, "is held by the question and not by the assertion, or the other way round", findings);
		}
	}

	/**
	 * A downgrade that did not find out whether the lock was lost ends it all the same.
	 */
	private static Map<Client, Set<Long>> failedDowngrades(Run run) {
		Map<Client, Set<Long>> ended = new HashMap<>();
		run.attempts()
			.stream()
			.filter((attempt) -> attempt.downgraded() != 0 && !attempt.isGranted())
			.forEach((attempt) -> ended.computeIfAbsent(attempt.client(), (client) -> new HashSet<>())
				.add(attempt.downgraded()));
		return ended;
	}

	private static void wrong(Attempt attempt, String what, Findings findings) {
		findings.violation(Invariant.I19, attempt.end(), attempt + " " + what);
	}

}
