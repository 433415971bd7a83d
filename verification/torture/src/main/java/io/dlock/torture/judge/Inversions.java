package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.dlock.torture.Keys;

/**
 * I18: a fair lock is given in the order in which the store saw the calls. A call is seen
 * within the time that the machine may add to any other, if its process runs and its
 * store is well; a call that begins later is behind it. Grants of an exclusive lock
 * return in their order, because each needs the release of the one before.
 */
final class Inversions {

	/**
	 * PostgreSQL looks after the connection of a mailbox every ten seconds. A mailbox
	 * that a fault has cut off loses messages for so long, and a call that gets none may
	 * miss its turn.
	 */
	private static final long DEAF_ON_POSTGRES = TimeUnit.SECONDS.toNanos(12);

	/** Elsewhere a silent mailbox is noticed within six command timeouts. */
	private static final int DEAF_TIMEOUTS = 8;

	private Inversions() {
	}

	static void judge(Run run, Findings findings) {
		List<Attempt> grants = run.byKey()
			.getOrDefault(Keys.FAIR, List.of())
			.stream()
			.filter(Attempt::isGranted)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
		Intervals deaf = run.timeline()
			.faultsOfMessages()
			.extended("POSTGRES".equals(run.options().get("store")) ? DEAF_ON_POSTGRES
					: DEAF_TIMEOUTS * run.limits().commandTimeout());
		for (int i = 0; i < grants.size(); i++) {
			Attempt grant = grants.get(i);
			long seen = grant.invoked() + run.limits().slack();
			boolean excused = deaf.intersects(grant.invoked(), grant.returned())
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
	 * A lock that is lost by a client, or left by its death, is for the call that asks
	 * first.
	 */
	private static boolean isDisturbed(Client client, Attempt attempt) {
		return client.disturbed(attempt.invoked(), attempt.returned())
				|| client.pauses().intersects(attempt.invoked(), attempt.returned());
	}

}
