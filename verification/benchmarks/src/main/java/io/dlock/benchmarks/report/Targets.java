package io.dlock.benchmarks.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.LockKind;

/**
 * The targets of the first release.
 */
final class Targets {

	/** Where the median cost of one bare command is found. */
	private static final String ROUND_TRIP = ScenarioNames.ROUND_TRIP;

	private static final String DLOCK = ContenderType.DLOCK.label();

	private static final String RAW = ContenderType.RAW.label();

	private static final String REDISSON = ContenderType.REDISSON.label();

	private static final String STORE = ContenderType.STORE.label();

	private Targets() {
	}

	/**
	 * Whom the others are compared with.
	 * @return the name of a contender
	 */
	static String reference(String scenario) {
		return switch (scenario) {
			case ScenarioNames.HAND_OFF -> ROUND_TRIP;
			case ScenarioNames.POLLING_TRIES -> STORE;
			case ScenarioNames.TWO_KEYS, ScenarioNames.QUORUM -> DLOCK;
			case ScenarioNames.READERS, ScenarioNames.READERS_JVMS, ScenarioNames.PERMITS -> REDISSON;
			case ScenarioNames.FAIR_JVMS -> ContenderType.REDISSON_FAIR.label();
			default -> RAW;
		};
	}

	static List<Target> all() {
		List<Target> targets = new ArrayList<>();
		targets.add(tries(ScenarioNames.MEMORY, 1 / 3.0, ContenderType.SEMAPHORE.label()));
		for (Backend backend : Backend.values()) {
			targets.addAll(uncontended(backend.label(), backend == Backend.REDIS));
			targets.addAll(contended(backend.label(), backend == Backend.REDIS));
			targets.add(tries(backend.label(), 1.0, STORE));
			targets.add(twoKeys(backend.label(), (backend == Backend.REDIS) ? 1.3 : 1.5));
			targets.addAll(scale(backend.label()));
		}
		targets.add(vsRedisson("16 readers", ScenarioNames.READERS, 30));
		targets.add(vsRedisson("90 % readers, 3 JVMs × 4", ScenarioNames.READERS_JVMS, 10));
		targets.add(vsRedisson("4 permits, 16 threads", ScenarioNames.PERMITS, 15));
		targets.add(Target.atLeast("redis, one fair key, 3 JVMs × 4: throughput / Redisson's", 5,
				fairRatio(Backend.REDIS.label())));
		targets.add(quorum("one Redis", 2.5, DLOCK));
		targets.add(quorum("Redisson's lock of all five", 1, ScenarioNames.REDISSON_MULTI));
		String aspect = "aspect, key from an argument, memory: ";
		Series nanos = new Series(ScenarioNames.ASPECT, ScenarioNames.MEMORY, "lockedByArgument", Metric.NANOS);
		targets.add(Target.atMost(aspect + "ns/call", 1200, median(nanos)));
		targets.add(Target.atMost(aspect + "B/call", 1500,
				median(new Series(ScenarioNames.ASPECT, ScenarioNames.MEMORY, "lockedByArgument", Metric.BYTES))));
		return targets;
	}

	private static List<Target> uncontended(String store, boolean redis) {
		Series p50 = new Series(ScenarioNames.UNCONTENDED_ONE, store, DLOCK, Metric.P50);
		Series many = new Series(ScenarioNames.UNCONTENDED_MANY, store, DLOCK, Metric.THROUGHPUT);
		List<Target> targets = new ArrayList<>();
		targets.add(Target.atMost(store + ", uncontended, 1 thread: p50 / raw", redis ? 1.10 : 1.05, vsRaw(p50)));
		if (redis) {
			targets.add(Target.atMost(store + ", the same with asynchronous release", 0.65,
					vsRaw(new Series(p50.scenario(), store, ContenderType.DLOCK_ASYNC.label(), Metric.P50))));
		}
		targets.add(Target.atLeast(store + ", uncontended, %d threads: throughput / raw".formatted(redis ? 32 : 16),
				1.0, vsRaw(many)));
		return targets;
	}

	private static List<Target> contended(String store, boolean redis) {
		Series threads = new Series(ScenarioNames.ONE_KEY_THREADS, store, DLOCK, Metric.THROUGHPUT);
		Series jvms = new Series(ScenarioNames.ONE_KEY_JVMS, store, DLOCK, Metric.THROUGHPUT);
		Series p99 = new Series(ScenarioNames.ONE_KEY_JVMS, store, DLOCK, Metric.P99);
		return List.of(
				Target.atLeast(store + ", one key, 16 threads: throughput / best peer", redis ? 15 : 60,
						vsBestPeer(threads, Comparator.naturalOrder())),
				Target.atLeast(store + ", one key, 16 threads: throughput / fair ReentrantLock", 0.65,
						(results) -> results
							.ratio(threads,
									new Series(threads.scenario(), store, ContenderType.REENTRANT_LOCK.label(),
											Metric.THROUGHPUT))
							.map(Summary::median)),
				Target.atLeast(store + ", one key, 3 JVMs × 4: throughput / best peer", redis ? 40 : 100,
						vsBestPeer(jvms, Comparator.naturalOrder())),
				Target.atLeast(store + ", one key, 3 JVMs × 4: slowest / fastest JVM", 0.8,
						median(new Series(jvms.scenario(), store, DLOCK, Metric.FAIRNESS))),
				Target.atMost(store + ", one key, 3 JVMs × 4: worst p99 / best peer's", 0.1,
						vsBestPeer(p99, Comparator.reverseOrder())));
	}

	private static Target tries(String store, double limit, String other) {
		Series ours = new Series(ScenarioNames.POLLING_TRIES, store, DLOCK, Metric.THROUGHPUT);
		Series theirs = new Series(ours.scenario(), store, other, ours.metric());
		return Target.atLeast(store + ", 8 threads that try: throughput / " + other, limit,
				(results) -> results.ratio(ours, theirs).map(Summary::median));
	}

	private static Target twoKeys(String store, double limit) {
		Series one = new Series(ScenarioNames.TWO_KEYS, store, DLOCK, Metric.P50);
		Series two = new Series(ScenarioNames.TWO_KEYS, store, LockKind.TWO_KEYS.label(ContenderType.DLOCK),
				Metric.P50);
		return Target.atMost(store + ", two keys at once, 1 thread: p50 / one key", limit,
				(results) -> results.ratio(two, one).map(Summary::median));
	}

	private static Target quorum(String than, double limit, String other) {
		String redis = Backend.REDIS.label();
		Series ours = new Series(ScenarioNames.QUORUM, redis, ScenarioNames.DLOCK_QUORUM, Metric.P50);
		Series theirs = new Series(ScenarioNames.QUORUM, redis, other, Metric.P50);
		return Target.atMost("majority of five, 1 thread: p50 / " + than, limit,
				(results) -> results.ratio(ours, theirs).map(Summary::median));
	}

	private static Function<Results, Optional<Double>> fairRatio(String store) {
		Series ours = new Series(ScenarioNames.FAIR_JVMS, store, ContenderType.DLOCK_FAIR.label(), Metric.THROUGHPUT);
		Series theirs = new Series(ScenarioNames.FAIR_JVMS, store, ContenderType.REDISSON_FAIR.label(),
				Metric.THROUGHPUT);
		return (results) -> results.ratio(ours, theirs).map(Summary::median);
	}

	private static Target vsRedisson(String what, String scenario, double limit) {
		String redis = Backend.REDIS.label();
		Series ours = new Series(scenario, redis, DLOCK, Metric.THROUGHPUT);
		Series theirs = new Series(scenario, redis, REDISSON, Metric.THROUGHPUT);
		return Target.atLeast(redis + ", one key, " + what + ": throughput / Redisson", limit,
				(results) -> results.ratio(ours, theirs).map(Summary::median));
	}

	private static List<Target> scale(String store) {
		return List.of(
				Target.atMost(store + ", asynchronous requests to a silent server: latest end after its deadline, µs",
						250_000, median(new Series(ScenarioNames.DEADLINES, store, DLOCK, Metric.MAX))),
				Target.atMost(store + ", hand-off between JVMs: p50 in round trips", 4,
						inRoundTrips(new Series(ScenarioNames.HAND_OFF, store, DLOCK, Metric.P50))),
				Target.atMost(store + ", hand-off between JVMs: p99 in round trips", 20,
						inRoundTrips(new Series(ScenarioNames.HAND_OFF, store, DLOCK, Metric.P99))),
				Target.atMost(store + ", held locks: round trips per renewal tick", 20,
						median(new Series(ScenarioNames.HELD, store, DLOCK, Metric.ROUND_TRIPS))),
				Target.atMost(store + ", held locks: our threads", 4,
						median(new Series(ScenarioNames.HELD, store, DLOCK, Metric.OUR_THREADS))),
				Target.atMost(store + ", keys used once: KiB of heap left", 1024,
						median(new Series(ScenarioNames.KEYS, store, DLOCK, Metric.HEAP_LEFT))),
				Target.atMost(store + ", keys used once: our objects left", 100,
						median(new Series(ScenarioNames.KEYS, store, DLOCK, Metric.OBJECTS_LEFT))),
				Target.atMost(store + ", keys used once: locks left in the store", 0,
						median(new Series(ScenarioNames.KEYS, store, DLOCK, Metric.LOCKS_LEFT))));
	}

	private static Function<Results, Optional<Double>> median(Series series) {
		return (results) -> results.summary(series).map(Summary::median);
	}

	private static Function<Results, Optional<Double>> vsRaw(Series ours) {
		Series raw = new Series(ours.scenario(), ours.store(), RAW, ours.metric());
		return (results) -> results.ratio(ours, raw).map(Summary::median);
	}

	private static Function<Results, Optional<Double>> inRoundTrips(Series ours) {
		Series roundTrip = new Series(ours.scenario(), ours.store(), ROUND_TRIP, Metric.P50);
		return (results) -> results.ratio(ours, roundTrip).map(Summary::median);
	}

	/**
	 * Compare the medians with those of the best peer.
	 * @param better the greatest is the best
	 */
	private static Function<Results, Optional<Double>> vsBestPeer(Series ours, Comparator<Double> better) {
		return (results) -> {
			Stream<Double> peers = ContenderType.PEERS.stream()
				.map((peer) -> new Series(ours.scenario(), ours.store(), peer.label(), ours.metric()))
				.flatMap((series) -> results.summary(series).stream())
				.map(Summary::median);
			Optional<Double> best = peers.max(better);
			return results.summary(ours).flatMap((our) -> best.map((peer) -> our.median() / peer));
		};
	}

}
