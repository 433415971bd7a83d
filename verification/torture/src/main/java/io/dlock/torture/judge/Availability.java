package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.history.Event;
import io.dlock.torture.judge.Occupation.Cause;

/**
 * I7, I8, I10 and I14: a key that nothing can occupy any more is granted to whoever waits
 * for it. For each call the judge works out when the key was free at the latest,
 * reckoning with everything that may have happened to all others, and how long the call
 * waited from then on. Calls that a fault has touched meanwhile are left out.
 * <p>
 * Calls that wait and leave do not keep a key from others for long, however many they
 * are: a turn is kept for each process once.
 */
final class Availability {

	private Availability() {
	}

	static void judge(Run run, Findings findings) {
		run.byKeyLockedAlone().forEach((key, attempts) -> judgeKey(run, attempts, findings));
	}

	private static void judgeKey(Run run, List<Attempt> attempts, Findings findings) {
		List<Occupation> occupations = Occupation.ofAll(attempts, run.limits());
		long turns = run.numberOfClients() * run.limits().turn();
		List<Attempt> answered = attempts.stream()
			.filter((attempt) -> attempt.isGranted() || attempt.outcome() == Event.REFUSED)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
		walk(answered, occupations, Occupation::since, turns,
				(attempt, last) -> judgeWait(run, attempt, last, findings));
		walk(answered.stream().filter((attempt) -> !attempt.isGranted() && attempt.waitLimit() == 0).toList(),
				occupations, Occupation::begun, turns,
				(attempt, last) -> judgeTry(run, attempt, last, attempts, findings));
	}

	/**
	 * Visit each attempt with the occupation that lasted longest of all that had to be
	 * reckoned with when it returned.
	 */
	private static void walk(List<Attempt> byReturn, List<Occupation> occupations, ToLongFunction<Occupation> since,
			long turns, BiConsumer<Attempt, @Nullable Occupation> visitor) {
		List<Occupation> ordered = occupations.stream().sorted(Comparator.comparingLong(since)).toList();
		Occupation last = null;
		Occupation hold = null;
		int next = 0;
		for (Attempt attempt : byReturn) {
			while (next < ordered.size() && since.applyAsLong(ordered.get(next)) < attempt.returned()) {
				Occupation occupation = ordered.get(next++);
				last = Occupation.later(last, occupation);
				hold = (occupation.cause() != Cause.LEFT) ? Occupation.later(hold, occupation) : hold;
			}
			visitor.accept(attempt, (hold != null) ? hold.withTurns(last, turns) : last);
		}
	}

	private static void judgeWait(Run run, Attempt attempt, @Nullable Occupation last, Findings findings) {
		long free = (last != null) ? Math.max(last.until(), attempt.invoked()) : attempt.invoked();
		long waited = attempt.client().running(free, attempt.returned());
		boolean excused = attempt.client()
			.storeFaults()
			.intersects(Math.min(free, attempt.returned()), attempt.returned());
		if (findings.isJudged(invariant(attempt, last), excused) && waited > run.limits().patience()) {
			findings.violation(invariant(attempt, last), attempt.returned(),
					"%s was %s %.0f ms after the key was free%s".formatted(attempt, attempt.outcome(), waited / 1e6,
							(last != null) ? ", the last was " + last.cause() : ""));
		}
	}

	/**
	 * A call that does not wait is refused only by a lock that another call has, or may
	 * have, or was just about to get.
	 */
	private static void judgeTry(Run run, Attempt attempt, @Nullable Occupation last, List<Attempt> attempts,
			Findings findings) {
		boolean free = last == null || last.until() + run.limits().patience() < attempt.invoked();
		boolean excused = attempt.client().storeFaults().intersects(attempt.invoked(), attempt.returned());
		if (findings.isJudged(invariant(attempt, last), excused) && free && !isBehind(attempt, attempts)) {
			findings.violation(invariant(attempt, last), attempt.returned(),
					attempt + " was refused but the lock is free");
		}
	}

	/**
	 * Whether another thread of the process was asking for the key as well: one of them
	 * asks the store for all, and whoever does not wait for its answer is refused.
	 */
	private static boolean isBehind(Attempt attempt, List<Attempt> attempts) {
		return attempts.stream()
			.anyMatch((other) -> other != attempt && other.client().equals(attempt.client())
					&& other.invoked() < attempt.returned()
					&& (other.returned() == 0 || other.returned() > attempt.invoked()));
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
