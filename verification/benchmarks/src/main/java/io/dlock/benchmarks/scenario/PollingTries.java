package io.dlock.benchmarks.scenario;

import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.load.Exclusion;
import io.dlock.benchmarks.load.Load;
import io.dlock.benchmarks.load.LoadGenerator;
import io.dlock.benchmarks.load.LocalExclusion;
import io.dlock.benchmarks.load.Window;
import io.dlock.benchmarks.process.Leases;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;

/**
 * Threads that never wait: they try again and again until they get the lock, and hold it
 * for a millisecond.
 */
final class PollingTries implements Scenario {

	private static final int THREADS = 8;

	private static final long HELD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final Set<ContenderType> IN_MEMORY = EnumSet.of(ContenderType.DLOCK, ContenderType.STORE,
			ContenderType.SEMAPHORE);

	private static final Set<ContenderType> ON_A_SERVER = EnumSet.of(ContenderType.DLOCK, ContenderType.STORE,
			ContenderType.SPRING_INTEGRATION, ContenderType.SHEDLOCK);

	@Override
	public String name() {
		return ScenarioNames.POLLING_TRIES;
	}

	@Override
	public void run(BenchmarkRun run) throws InterruptedException {
		measure(run, ScenarioNames.MEMORY, IN_MEMORY.stream().filter(run.options().contenders()::contains).toList(),
				(type) -> type.inMemory(Leases.DEFAULT));
		for (Backend backend : run.servers().backends()) {
			measure(run, backend.label(), run.contenders(backend, ON_A_SERVER),
					(type) -> type.connect(run.servers().address(backend), Leases.DEFAULT));
		}
	}

	private void measure(BenchmarkRun run, String store, List<ContenderType> types,
			Function<ContenderType, Contender> connect) throws InterruptedException {
		Map<ContenderType, Contender> contenders = new EnumMap<>(ContenderType.class);
		try {
			types.forEach((type) -> contenders.put(type, connect.apply(type)));
			for (int round = 0; round < 3; round++) {
				for (Map.Entry<ContenderType, Contender> contender : contenders.entrySet()) {
					measure(run, new Series(name(), store, contender.getKey().label(), Metric.THROUGHPUT),
							contender.getValue(), round);
				}
			}
		}
		finally {
			contenders.values().forEach(Contender::close);
		}
	}

	private void measure(BenchmarkRun run, Series series, Contender contender, int round) throws InterruptedException {
		Duration warmUp = run.options()
			.pick(Duration.ofMillis((round == 0) ? 1500 : 300), Duration.ofMillis((round == 0) ? 500 : 100));
		Duration measured = run.options().pick(Duration.ofMillis(3000), Duration.ofMillis(400));
		LocalExclusion protectedThing = new LocalExclusion();
		Load load = LoadGenerator.run(THREADS, 1, (thread) -> new Trying(contender.open(name() + "-" + round)),
				(thread) -> new Held(protectedThing), Window.after(System.nanoTime(), warmUp, measured));
		Figures figures = new Figures(run.results(), series);
		figures.add(Metric.THROUGHPUT, load.cyclesPerSecond());
		figures.latencies(load.waits());
		figures.add(Metric.VIOLATIONS, protectedThing.violations() + Math.abs(load.cycles() - protectedThing.cycles()));
		figures.add(Metric.ERRORS, load.errors());
		if (load.lastError() != null) {
			run.results().note(series.contender() + " in " + name() + ": " + load.lastError());
		}
	}

	/**
	 * Waits by trying. When the window is over the others stop, so that it ends.
	 *
	 * @param lock the lock
	 */
	private record Trying(ContenderLock lock) implements ContenderLock {

		@Override
		public void acquire() {
			while (!this.lock.tryAcquire()) {
				Thread.onSpinWait();
			}
		}

		@Override
		public void release() {
			this.lock.release();
		}

	}

	/**
	 * Takes its time inside.
	 *
	 * @param exclusion the protected resource
	 */
	private record Held(Exclusion exclusion) implements Exclusion {

		@Override
		public void enter(long id) {
			this.exclusion.enter(id);
			LockSupport.parkNanos(HELD_NANOS);
		}

		@Override
		public void exit(long id) {
			this.exclusion.exit(id);
		}

		@Override
		public long violations() {
			return this.exclusion.violations();
		}

		@Override
		public long cycles() {
			return this.exclusion.cycles();
		}

	}

}
