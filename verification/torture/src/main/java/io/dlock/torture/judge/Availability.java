package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.history.Event;
import io.dlock.torture.judge.Occupation.Cause;

/**
 * I7, I8, I10 and I14: a key that nothing can occupy any more is granted to whoever waits
 * for it. For each call the judge works out when the key was free at the latest,
 * reckoning with everything that may have happened to all others, and how long the call
 * waited from then on. Calls that a fault has touched meanwhile are left out.
 */
final class Availability {

	private Availability() {
	}

	static void judge(Run run, Findings findings) {
		run.byKey().forEach((key, attempts) -> judgeKey(run, attempts, findings));
	}

	private static void judgeKey(Run run, List<Attempt> attempts, Findings findings) {
		List<Occupation> occupations = Occupation.ofAll(attempts, run.limits());
		List<Attempt> answered = attempts.stream()
			.filter((attempt) -> attempt.isGranted() || attempt.outcome() == Event.REFUSED)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
		Occupation last = null;
		int next = 0;
		for (Attempt attempt : answered) {
			while (next < occupations.size() && occupations.get(next).since() < attempt.returned()) {
				last = Occupation.later(last, occupations.get(next++));
			}
			judgeCall(run, attempt, attempts, last, findings);
		}
	}

	private static void judgeCall(Run run, Attempt attempt, List<Attempt> attempts, @Nullable Occupation last,
			Findings findings) {
		long free = (last != null) ? Math.max(last.until(), attempt.invoked()) : attempt.invoked();
		long waited = attempt.client().running(free, attempt.returned());
		if (waited <= 0 || attempt.client().storeFaults().intersects(free, attempt.returned())) {
			return;
		}
		// a turn is kept for the first in the queue for two polls, and polled for once
		// more
		long patience = 3 * run.limits().poll() + run.limits().slack();
		boolean refused = attempt.outcome() == Event.REFUSED && attempt.waitLimit() <= patience
				&& (last == null || last.until() + patience < attempt.invoked()) && !isOvertaken(attempt, attempts);
		if (waited > patience || refused) {
			findings.violation(invariant(attempt, last), attempt.returned(),
					"%s was %s %.0f ms after the key was free%s".formatted(attempt, attempt.outcome(), waited / 1e6,
							(last != null) ? ", the last was " + last.cause() : ""));
		}
	}

	/**
	 * Whether another call was granted the key while this one ran, though it may have
	 * been told so later.
	 */
	private static boolean isOvertaken(Attempt attempt, List<Attempt> attempts) {
		return attempts.stream()
			.anyMatch((other) -> other != attempt && other.isGranted() && other.invoked() < attempt.returned()
					&& (other.released() == 0 || other.released() > attempt.invoked()));
	}

	private static Invariant invariant(Attempt attempt, @Nullable Occupation last) {
		Cause cause = (last != null) ? last.cause() : Cause.RELEASED;
		return switch (cause) {
			case KILLED -> Invariant.I8;
			case LOST, UNKNOWN -> Invariant.I7;
			case RELEASED, LEFT -> attempt.isPrivate() ? Invariant.I14 : Invariant.I10;
		};
	}

}
