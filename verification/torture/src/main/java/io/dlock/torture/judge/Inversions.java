package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.dlock.torture.Keys;
import io.dlock.torture.judge.Intervals.Interval;

/**
 * I18: a fair lock is given in the order in which the store saw the calls. A call is seen
 * within the time that the machine may add to any other, if its process runs and its
 * store is well; a call that begins later is behind it. Grants of an exclusive lock
 * return in their order, because each needs the release of the one before.
 */
final class Inversions {

	/**
	 * A released lock is kept for the next call at least as long, less the milliseconds
	 * of a clock. A call that does not take it in time, because it gets no message or
	 * does not run, has missed its turn.
	 */
	private static final long TURN = TimeUnit.MILLISECONDS.toNanos(45);

	private Inversions() {
	}

	static void judge(Run run, Findings findings) {
		List<Attempt> grants = run.byKey()
			.getOrDefault(Keys.FAIR, List.of())
			.stream()
			.filter(Attempt::isGranted)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
		Intervals missed = missedTurns(grants);
		for (int i = 0; i < grants.size(); i++) {
			Attempt grant = grants.get(i);
			long seen = grant.invoked() + run.limits().slack();
			boolean excused = missed.intersects(grant.invoked(), grant.returned())
					|| run.clients().stream().anyMatch((client) -> isDisturbed(client, grant));
			Attempt later = null;
			int inversions = 0;
			for (int j = i - 1; j >= 0 && grants.get(j).returned() > seen; j--) {
				Attempt other = grants.get(j);
				if (other.invoked() > seen) {
					later = other;
					inversions++;
				}
			}
			if (grant.returned() > seen && findings.isJudged(Invariant.I18, excused) && later != null) {
				findings.violation(Invariant.I18, later.returned(),
						"%s was overtaken by %d later calls, the first of them %s".formatted(grant, inversions, later));
			}
		}
	}

	/**
	 * The times in which the lock was free for so long that a call may have missed its
	 * turn. The calls behind it have no order then: the first that asks gets the lock.
	 */
	private static Intervals missedTurns(List<Attempt> grants) {
		List<Interval> missed = new ArrayList<>();
		for (int i = 1; i < grants.size(); i++) {
			Attempt before = grants.get(i - 1);
			long free = (before.releaseSent() != 0) ? before.releaseSent() : before.returned();
			long next = grants.get(i).returned();
			if (next - free >= TURN) {
				missed.add(new Interval(free, next));
			}
		}
		return Intervals.of(missed);
	}

	/**
	 * A lock that is lost by a client, or left by its death, is for the call that asks
	 * first.
	 */
	private static boolean isDisturbed(Client client, Attempt attempt) {
		return client.disturbed(attempt.invoked(), attempt.returned())
				|| client.pauses().intersects(attempt.invoked(), attempt.returned());
	}

}
