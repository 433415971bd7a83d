package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.dlock.torture.judge.Intervals.Interval;
import io.dlock.torture.judge.TimelineEvent.Kind;

/**
 * I15: as soon as the store can be used by clients that connect anew, each process that
 * wants a lock is granted one by the store within three command timeouts. The locks of
 * other processes are no help to it.
 */
final class Restorations {

	private static final int TIMEOUTS = 3;

	private Restorations() {
	}

	static void judge(Run run, Findings findings) {
		List<Interval> restored = restored(run.timeline());
		if (restored.isEmpty()) {
			return;
		}
		Map<Client, List<Attempt>> byClient = new HashMap<>();
		run.attempts()
			.forEach((attempt) -> byClient.computeIfAbsent(attempt.client(), (client) -> new ArrayList<>())
				.add(attempt));
		restored
			.forEach((time) -> byClient.forEach((client, attempts) -> judge(run, time, client, attempts, findings)));
	}

	/**
	 * The time from the moment at which locking was possible again to the end of the
	 * fault, which may put everything back.
	 */
	private static List<Interval> restored(Timeline timeline) {
		List<Interval> times = new ArrayList<>();
		Map<String, Long> open = new HashMap<>();
		for (TimelineEvent event : timeline.events()) {
			if (event.kind() == Kind.RESTORED) {
				open.put(event.name(), event.nanos());
			}
			else if (event.kind() == Kind.END && open.containsKey(event.name())) {
				times.add(new Interval(open.remove(event.name()), event.nanos()));
			}
		}
		return times;
	}

	/**
	 * Only keys of its own are certain to be free for it.
	 */
	private static void judge(Run run, Interval time, Client client, List<Attempt> attempts, Findings findings) {
		long after = TIMEOUTS * run.limits().commandTimeout() + run.limits().poll();
		boolean excused = client.last() < time.to() || run.timeline()
			.ownFaults(client.header().client())
			.extended(after)
			.intersects(time.from(), time.to());
		if (!findings.isJudged(Invariant.I15, excused)) {
			return;
		}
		long granted = attempts.stream()
			.filter((attempt) -> attempt.isGranted() && run.limits().isGrantOfStore(attempt)
					&& attempt.returned() > time.from())
			.mapToLong(Attempt::returned)
			.min()
			.orElse(Long.MAX_VALUE);
		long until = Math.min(granted, time.to());
		long wanted = attempts.stream()
			.filter((attempt) -> attempt.isPrivate() && attempt.invoked() < until
					&& (attempt.returned() == 0 || attempt.returned() > time.from()))
			.mapToLong((attempt) -> Math.max(attempt.invoked(), time.from()))
			.min()
			.orElse(until);
		long took = client.running(wanted, until);
		if (took > TIMEOUTS * run.limits().commandTimeout() + run.limits().slack()) {
			findings.violation(Invariant.I15, until, "%s got %s for %.0f ms after the store could be used again"
				.formatted(client, (granted <= time.to()) ? "its first lock" : "no lock", took / 1e6));
		}
	}

}
