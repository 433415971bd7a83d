package io.dlock.torture.judge;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.dlock.torture.history.Event;
import io.dlock.torture.judge.Intervals.Interval;
import io.dlock.torture.judge.TimelineEvent.Kind;

/**
 * I15 of the messages that tell a process that it has its turn: when they do not arrive
 * any more, and only the silence tells, the process notices within fifteen seconds, and
 * gets its locks from other processes as fast as before. Without a reason, no process
 * gets them more slowly than the others for a minute. The minutes are not counted as
 * judged, because a run must have recoveries.
 */
final class Messages {

	private static final String SILENT_SUBSCRIPTION = "F34";

	private static final long NOTICED = Duration.ofSeconds(15).toNanos();

	private static final long MINUTE = Duration.ofMinutes(1).toNanos();

	/** Fewer hand-overs prove nothing. */
	private static final int SAMPLES = 5;

	/** The hand-overs of a minute that prove something. */
	private static final int SAMPLES_OF_A_MINUTE = 100;

	private static final int TIMES_AS_LONG = 3;

	private static final long AS_GOOD_AS_NOTHING = Duration.ofMillis(10).toNanos();

	private Messages() {
	}

	static void judge(Run run, Findings findings) {
		List<HandOver> handOvers = handOvers(run);
		for (TimelineEvent silence : run.timeline().events()) {
			if (silence.kind() == Kind.START && silence.fault().equals(SILENT_SUBSCRIPTION)) {
				long end = end(run.timeline(), silence);
				clients(run).filter(silence::concerns)
					.forEach((client) -> judge(run, client, new Interval(silence.nanos(), end), handOvers, findings));
			}
		}
		Map<Integer, Intervals> excuses = clients(run).boxed()
			.collect(Collectors.toMap(Function.identity(),
					(client) -> run.timeline().ownFaults(client).extended(NOTICED)));
		handOvers.stream()
			.filter((handOver) -> !excuses.getOrDefault(handOver.to(), Intervals.NONE)
				.intersects(handOver.at(), handOver.at()))
			.collect(Collectors.groupingBy((handOver) -> handOver.at() / MINUTE))
			.values()
			.forEach((minute) -> clients(run).forEach((client) -> judge(client, minute, findings)));
	}

	private static IntStream clients(Run run) {
		return run.clients().stream().mapToInt((client) -> client.header().client()).distinct();
	}

	private static void judge(int client, List<HandOver> minute, Findings findings) {
		long own = median(minute, SAMPLES_OF_A_MINUTE, (handOver) -> handOver.to() == client);
		long others = median(minute, SAMPLES_OF_A_MINUTE, (handOver) -> handOver.to() != client);
		if (others >= 0 && isSlow(own, others)) {
			findings.violation(Invariant.I15, minute.get(0).at(),
					"locks of others reached client-%d in %.1f ms for a minute, and other clients in %.1f ms"
						.formatted(client, own / 1e6, others / 1e6));
		}
	}

	private static long end(Timeline timeline, TimelineEvent begin) {
		return timeline.events()
			.stream()
			.filter((event) -> event.kind() == Kind.HEAL
					|| (event.kind() == Kind.END && event.name().equals(begin.name())))
			.mapToLong(TimelineEvent::nanos)
			.findFirst()
			.orElse(begin.nanos());
	}

	private static void judge(Run run, int client, Interval silence, List<HandOver> all, Findings findings) {
		Intervals own = run.timeline().ownFaults(client);
		List<HandOver> taken = all.stream().filter((handOver) -> handOver.to() == client).toList();
		long before = median(taken, SAMPLES, (handOver) -> !own.intersects(handOver.at(), handOver.at()));
		long noticed = silence.from() + NOTICED;
		long after = median(taken, SAMPLES, (handOver) -> handOver.at() > noticed && handOver.at() < silence.to());
		if (findings.isJudged(Invariant.I15, before < 0 || after < 0) && isSlow(after, before)) {
			findings.violation(Invariant.I15, noticed,
					"locks of others reached client-%d in %.1f ms when its messages had been lost for %d s, and in %.1f ms otherwise"
						.formatted(client, after / 1e6, NOTICED / 1_000_000_000, before / 1e6));
		}
	}

	private static boolean isSlow(long took, long usual) {
		return took > TIMES_AS_LONG * usual + AS_GOOD_AS_NOTHING;
	}

	/**
	 * The median of hand-overs.
	 * @return nanoseconds, -1 if there are too few
	 */
	private static long median(List<HandOver> handOvers, int samples, Predicate<HandOver> chosen) {
		List<Long> took = handOvers.stream().filter(chosen).map(HandOver::took).sorted().toList();
		return (took.size() < samples) ? -1 : took.get(took.size() / 2);
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
