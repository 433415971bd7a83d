package io.dlock.torture.judge;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;

/**
 * The measured figures. Times are in milliseconds.
 *
 * @param clients how many client processes there were
 * @param seconds from the first call to the last
 * @param slowSeconds how long the machine was slow, which is not counted
 * @param cycles locks that were granted
 * @param cyclesUnderFault those that a fault overlapped
 * @param outcomes how the calls ended
 * @param kinds the calls by kind of lock
 * @param lost locks that were lost
 * @param takeOvers locks that were taken from who had not released them
 * @param rejectedWrites uses of the fenced counter that were rejected
 * @param fenced whether there are fencing tokens
 * @param unfencedUpdates the updates of the counter without a fence
 * @param unfencedUpdatesLost those of them that were overwritten
 * @param faults the faults by type
 * @param recovery how soon locks were available again
 * @param waits how long calls that were granted had waited
 * @param mostOvertaken how many later calls got the lock before the unluckiest (I13)
 */
public record Figures(int clients, double seconds, double slowSeconds, long cycles, long cyclesUnderFault,
		Map<String, Long> outcomes, Map<String, KindFigures> kinds, long lost, long takeOvers, long rejectedWrites,
		boolean fenced, long unfencedUpdates, long unfencedUpdatesLost, Map<String, Integer> faults,
		Recoveries recovery, Percentiles waits, long mostOvertaken) {

	static Figures of(Run run) {
		long first = run.attempts().stream().mapToLong(Attempt::invoked).min().orElse(0);
		long last = run.attempts().stream().mapToLong(Attempt::end).max().orElse(0);
		Map<String, Long> outcomes = new TreeMap<>();
		run.attempts().forEach((attempt) -> outcomes.merge(attempt.outcome().name(), 1L, Long::sum));
		return new Figures(run.clients().size(), (last - first) / 1e9, run.machine().covered(first, last) / 1e9,
				count(run, Attempt::isGranted), underFault(run), outcomes, KindFigures.of(run),
				count(run, Attempt::isLost), takeOvers(run),
				run.resource().stream().map(HistoryRecord::event).filter(Event.FENCED_REJECTED::equals).count(),
				run.limits().fenced(), Resource.unfencedUpdates(run), Resource.unfencedUpdatesLost(run),
				run.timeline().counts(), Recoveries.of(run),
				Percentiles.ofNanos(run.attempts()
					.stream()
					.filter(Attempt::isGranted)
					.mapToLong((attempt) -> attempt.returned() - attempt.invoked())),
				mostOvertaken(run));
	}

	/**
	 * The part of the updates without a fence that were lost.
	 * @return a number from 0 to 1
	 */
	public double unfencedLossRate() {
		return (this.unfencedUpdates > 0) ? (double) this.unfencedUpdatesLost / this.unfencedUpdates : 0;
	}

	private static long count(Run run, Predicate<Attempt> condition) {
		return run.attempts().stream().filter(condition).count();
	}

	private static long underFault(Run run) {
		Map<Integer, Intervals> faults = new TreeMap<>();
		return count(run,
				(attempt) -> attempt.isGranted()
						&& faults.computeIfAbsent(attempt.client().header().client(), run.timeline()::faults)
							.intersects(attempt.invoked(), attempt.end()));
	}

	/**
	 * A grant of a lock that the one before, of another call, did not release.
	 */
	private static long takeOvers(Run run) {
		long count = 0;
		for (List<Attempt> attempts : run.byKey().values()) {
			Attempt before = null;
			for (Attempt grant : byReturn(attempts)) {
				if (before != null && (before.isLost() || before.released() == 0)) {
					count++;
				}
				before = grant;
			}
		}
		return count;
	}

	private static long mostOvertaken(Run run) {
		long most = 0;
		for (List<Attempt> attempts : run.byKey().values()) {
			List<Attempt> grants = byReturn(attempts);
			for (int i = 0; i < grants.size(); i++) {
				Attempt grant = grants.get(i);
				long overtaken = 0;
				for (int j = i - 1; j >= 0 && grants.get(j).returned() > grant.invoked(); j--) {
					overtaken += (grants.get(j).invoked() > grant.invoked()) ? 1 : 0;
				}
				most = Math.max(most, overtaken);
			}
		}
		return most;
	}

	private static List<Attempt> byReturn(List<Attempt> attempts) {
		return attempts.stream()
			.filter(Attempt::isGranted)
			.sorted(Comparator.comparingLong(Attempt::returned))
			.toList();
	}

}
