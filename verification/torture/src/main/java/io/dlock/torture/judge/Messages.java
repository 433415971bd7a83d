package io.dlock.torture.judge;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongPredicate;

import io.dlock.torture.history.Event;
import io.dlock.torture.judge.Deed.Kind;
import io.dlock.torture.judge.Intervals.Interval;

/**
 * I15 of the messages that tell a process that it has its turn: when they do not arrive
 * any more, and only the silence tells, the process notices within fifteen seconds, and
 * gets its locks from other processes as fast as before.
 */
final class Messages {

	private static final String SILENT_SUBSCRIPTION = "F34";

	private static final long NOTICED = Duration.ofSeconds(15).toNanos();

	/** Fewer hand-overs prove nothing. */
	private static final int SAMPLES = 5;

	private static final int TIMES_AS_LONG = 3;

	private static final long AS_GOOD_AS_NOTHING = Duration.ofMillis(10).toNanos();

	private Messages() {
	}

	static void judge(Run run, Findings findings) {
		List<Deed> silences = run.timeline()
			.events()
			.stream()
			.filter((deed) -> deed.kind() == Kind.START && deed.fault().equals(SILENT_SUBSCRIPTION))
			.toList();
		if (silences.isEmpty()) {
			return;
		}
		List<HandOver> handOvers = handOvers(run);
		for (Deed silence : silences) {
			long end = end(run.timeline(), silence);
			run.clients()
				.stream()
				.map((client) -> client.header().client())
				.distinct()
				.filter(silence::concerns)
				.forEach((client) -> judge(run, client, new Interval(silence.nanos(), end), handOvers, findings));
		}
	}

	private static long end(Timeline timeline, Deed begin) {
		return timeline.events()
			.stream()
			.filter((deed) -> deed.kind() == Kind.HEAL || (deed.kind() == Kind.END && deed.name().equals(begin.name())))
			.mapToLong(Deed::nanos)
			.findFirst()
			.orElse(begin.nanos());
	}

	private static void judge(Run run, int client, Interval silence, List<HandOver> all, Findings findings) {
		Intervals own = run.timeline().ownFaults(client);
		long before = median(all, client, (time) -> !own.intersects(time, time));
		long noticed = silence.from() + NOTICED;
		long after = median(all, client, (time) -> time > noticed && time < silence.to());
		if (findings.isJudged(Invariant.I15, before < 0 || after < 0)
				&& after > TIMES_AS_LONG * before + AS_GOOD_AS_NOTHING) {
			findings.violation(Invariant.I15, noticed,
					"locks of others reached client-%d in %.1f ms when its messages had been lost for %d s, and in %.1f ms otherwise"
						.formatted(client, after / 1e6, NOTICED / 1_000_000_000, before / 1e6));
		}
	}

	/**
	 * The median of the hand-overs to a client.
	 * @return nanoseconds, -1 if there are too few
	 */
	private static long median(List<HandOver> all, int client, LongPredicate when) {
		List<Long> took = all.stream()
			.filter((handOver) -> handOver.to() == client && when.test(handOver.at()))
			.map(HandOver::took)
			.sorted()
			.toList();
		return (took.size() < SAMPLES) ? -1 : took.get(took.size() / 2);
	}

	/**
	 * The locks that one process released and another, which was waiting, got next while
	 * the store was well.
	 */
	private static List<HandOver> handOvers(Run run) {
		List<HandOver> handOvers = new ArrayList<>();
		for (List<Attempt> attempts : run.byKeyLockedAlone().values()) {
			List<Attempt> grants = attempts.stream()
				.filter(Attempt::isGranted)
				.sorted(Comparator.comparingLong(Attempt::returned))
				.toList();
			for (int i = 1; i < grants.size(); i++) {
				Attempt from = grants.get(i - 1);
				Attempt to = grants.get(i);
				long at = from.releaseSent();
				if (from.release() == Event.RELEASED && !from.client().equals(to.client()) && to.invoked() < at
						&& !to.client().storeFaults().intersects(at, to.returned())
						&& !from.client().storeFaults().intersects(at, to.returned())) {
					handOvers
						.add(new HandOver(to.client().header().client(), at, to.client().running(at, to.returned())));
				}
			}
		}
		return handOvers;
	}

	/**
	 * A lock that went from one process to another.
	 *
	 * @param to the number of the client that got it
	 * @param at the time at which the other began to release it
	 * @param took the time that it took from then on
	 */
	private record HandOver(int to, long at, long took) {

	}

}
