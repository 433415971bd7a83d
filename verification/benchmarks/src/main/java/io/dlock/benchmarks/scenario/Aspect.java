package io.dlock.benchmarks.scenario;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

import io.dlock.benchmarks.aspect.AspectBenchmark;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;

/**
 * The cost of the annotation where locking costs nothing.
 */
final class Aspect implements Scenario {

	@Override
	public String name() {
		return ScenarioNames.ASPECT;
	}

	@Override
	public void run(BenchmarkRun run) throws RunnerException {
		boolean quick = run.options().quick();
		TimeValue iteration = new TimeValue(quick ? 500 : 1000, TimeUnit.MILLISECONDS);
		OptionsBuilder options = new OptionsBuilder();
		options.include(AspectBenchmark.class.getName().replace(".", "\\."))
			.forks(quick ? 1 : 3)
			.warmupIterations(quick ? 4 : 6)
			.warmupTime(iteration)
			.measurementIterations(3)
			.measurementTime(iteration)
			.addProfiler(GCProfiler.class)
			.output(run.directory().resolve("jmh.log").toString());
		for (RunResult result : new Runner(options.build()).run()) {
			record(run, result);
		}
	}

	private void record(BenchmarkRun run, RunResult result) {
		String benchmark = result.getParams().getBenchmark();
		Figures figures = new Figures(run.results(),
				new Series(name(), "memory", benchmark.substring(benchmark.lastIndexOf('.') + 1), Metric.NANOS));
		// a figure for each fork
		for (BenchmarkResult fork : result.getBenchmarkResults()) {
			figures.add(Metric.NANOS, fork.getPrimaryResult().getScore());
			fork.getSecondaryResults().forEach((name, figure) -> {
				if (name.endsWith("gc.alloc.rate.norm")) {
					figures.add(Metric.BYTES, figure.getScore());
				}
			});
		}
	}

}
