package io.dlock.benchmarks.scenario;

import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.LockKind;
import io.dlock.benchmarks.load.Exclusion;
import io.dlock.benchmarks.load.Load;
import io.dlock.benchmarks.load.LoadGenerator;
import io.dlock.benchmarks.load.LocalExclusion;
import io.dlock.benchmarks.load.Places;
import io.dlock.benchmarks.load.SharedWords;
import io.dlock.benchmarks.load.Window;
import io.dlock.benchmarks.process.Leases;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.Series;

/**
 * Threads of this JVM lock and unlock: a key each, or all the same.
 *
 * @param name the name
 * @param keys the keys of the threads
 * @param redisThreads the number of threads on Redis
 * @param postgresThreads the number of threads on PostgreSQL
 * @param suitable the contenders
 * @param kinds the kinds of locks, each measured with each contender
 */
record OneProcess(String name, Keys keys, int redisThreads, int postgresThreads, Set<ContenderType> suitable,
		List<LockKind> kinds) implements Scenario {

	static OneProcess exclusive(String name, Keys keys, int redisThreads, int postgresThreads) {
		Set<ContenderType> suitable = EnumSet.copyOf(ContenderType.DISTRIBUTED);
		suitable.add((keys == Keys.SHARED) ? ContenderType.REENTRANT_LOCK : ContenderType.DLOCK_ASYNC);
		return new OneProcess(name, keys, redisThreads, postgresThreads, suitable, List.of(LockKind.EXCLUSIVE));
	}

	@Override
	public void run(BenchmarkRun run) throws InterruptedException {
		for (Backend backend : run.servers().backends()) {
			Map<ContenderType, Contender> contenders = new EnumMap<>(ContenderType.class);
			try {
				for (ContenderType type : run.contenders(backend, this.suitable)) {
					contenders.put(type, type.connect(run.servers().address(backend), Leases.DEFAULT));
				}
				for (int round = 0; round < 3; round++) {
					for (Map.Entry<ContenderType, Contender> contender : contenders.entrySet()) {
						for (LockKind kind : this.kinds) {
							measure(run, new Series(this.name, backend.label(), kind.label(contender.getKey()),
									Metric.THROUGHPUT), kind, contender.getValue(), round);
						}
					}
				}
			}
			finally {
				contenders.values().forEach(Contender::close);
			}
		}
	}

	void measure(BenchmarkRun run, Series series, LockKind kind, Contender contender, int round)
			throws InterruptedException {
		int threads = series.store().equals(Backend.REDIS.label()) ? this.redisThreads : this.postgresThreads;
		List<Exclusion> protectedThings = Stream.generate(() -> protectedBy(kind))
			.limit((this.keys == Keys.SHARED) ? 1 : threads)
			.toList();
		IntFunction<Exclusion> exclusions = (thread) -> protectedThings.get(thread % protectedThings.size());
		String key = this.name + "-" + round + "-";
		Duration warmUp = (round == 0) ? run.options().pick(Duration.ofMillis(2500), Duration.ofMillis(1000))
				: run.options().pick(Duration.ofMillis(500), Duration.ofMillis(150));
		Duration measured = run.options().pick(Duration.ofMillis(3000), Duration.ofMillis(350));
		Load load = LoadGenerator.run(threads, 1,
				(thread) -> contender.open(key + thread % protectedThings.size(), kind), exclusions,
				Window.after(System.nanoTime(), warmUp, measured));
		record(run, series, load, violations(protectedThings, load.cycles()));
	}

	private static Exclusion protectedBy(LockKind kind) {
		return (kind.places() > 1) ? new Places(SharedWords.local(), kind) : new LocalExclusion();
	}

	/**
	 * A cycle that is missing was lost by another thread that was inside at the same
	 * time.
	 */
	private static long violations(List<Exclusion> exclusions, long cycles) {
		long noticed = exclusions.stream().mapToLong(Exclusion::violations).sum();
		long counted = exclusions.stream().mapToLong(Exclusion::cycles).sum();
		return noticed + Math.abs(cycles - counted);
	}

	private void record(BenchmarkRun run, Series series, Load load, long violations) {
		Figures figures = new Figures(run.results(), series);
		if (this.redisThreads == 1) {
			// the first of the columns is what the ratio is made of
			figures.latencies(load.cycleTimes());
			figures.add(Metric.THROUGHPUT, load.cyclesPerSecond());
		}
		else {
			figures.add(Metric.THROUGHPUT, load.cyclesPerSecond());
			figures.latencies((this.keys == Keys.SHARED) ? load.waits() : load.cycleTimes());
		}
		figures.add(Metric.VIOLATIONS, violations);
		figures.add(Metric.ERRORS, load.errors());
		if (load.lastError() != null) {
			run.results().note(series.contender() + " in " + this.name + ": " + load.lastError());
		}
	}

	/**
	 * The keys of the threads.
	 */
	enum Keys {

		OWN, SHARED

	}

}
