package io.dlock.benchmarks.scenario;

import java.util.List;

import io.dlock.benchmarks.ServerStatistics;
import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.process.Child;
import io.dlock.benchmarks.process.ChildProcess;
import io.dlock.benchmarks.process.ChildReport;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;

/**
 * The leftovers of many keys that were locked once: on the heap, and in the store once
 * its retention is over and it has been swept.
 */
final class KeysUsedOnce implements Scenario {

	@Override
	public String name() {
		return ScenarioNames.KEYS;
	}

	@Override
	public void run(BenchmarkRun run) throws InterruptedException {
		for (Backend backend : run.servers().backends()) {
			for (ContenderType type : run.contendersInJvms(backend, ContenderType.DISTRIBUTED)) {
				measure(run, backend, type);
			}
		}
	}

	private void measure(BenchmarkRun run, Backend backend, ContenderType type) throws InterruptedException {
		int keys = keys(run, type);
		ServerAddress address = run.servers().address(backend);
		ServerStatistics server = new ServerStatistics(address);
		server.clear();
		try (ChildProcess child = run.startChild(Child.Task.USE_KEYS,
				List.of(address.toString(), type.label(), Integer.toString(keys)))) {
			child.await("used");
			server.age();
			child.tell("sweep");
			ChildReport report = child.result();
			Figures figures = new Figures(run.results(),
					new Series(name(), backend.label(), type.label(), Metric.THROUGHPUT));
			figures.add(Metric.THROUGHPUT, report.figure("cyclesPerSecond"));
			figures.add(Metric.HEAP_LEFT, report.figure("heapLeft") / 1024);
			if (type == ContenderType.DLOCK) {
				figures.add(Metric.OBJECTS_LEFT, report.figure("objectsLeft"));
				figures.add(Metric.LOCKS_LEFT, server.locks());
			}
			figures.add(Metric.STORE_LEFT, server.entries());
			run.results().note("%s: %,d keys of %s in %s".formatted(name(), keys, type.label(), backend.label()));
		}
	}

	/**
	 * Some of the others would take an hour for as many.
	 */
	private static int keys(BenchmarkRun run, ContenderType type) {
		return (type == ContenderType.DLOCK) ? run.options().pick(1_000_000, 10_000)
				: run.options().pick(100_000, 1_000);
	}

}
