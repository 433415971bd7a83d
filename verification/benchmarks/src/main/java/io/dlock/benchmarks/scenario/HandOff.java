package io.dlock.benchmarks.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.HdrHistogram.Histogram;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.process.Child;
import io.dlock.benchmarks.process.ChildProcess;
import io.dlock.benchmarks.process.ChildReport;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.ScenarioNames;
import io.dlock.benchmarks.report.Series;

/**
 * How long it takes from the release in one JVM to the grant in another, and how long one
 * command of a lock takes without a library.
 */
final class HandOff implements Scenario {

	@Override
	public String name() {
		return ScenarioNames.HAND_OFF;
	}

	@Override
	public void run(BenchmarkRun run) throws InterruptedException, IOException {
		for (Backend backend : run.servers().backends()) {
			for (int round = 0; round < run.options().pick(3, 1); round++) {
				new Figures(run.results(), new Series(name(), backend.label(), ScenarioNames.ROUND_TRIP, Metric.P50))
					.latencies(RoundTrips.measure(run.servers().address(backend)));
				for (ContenderType type : run.contendersInJvms(backend, ContenderType.DISTRIBUTED)) {
					measure(run, backend, type, round);
				}
			}
		}
	}

	private void measure(BenchmarkRun run, Backend backend, ContenderType type, int round)
			throws InterruptedException, IOException {
		Path file = run.newSharedFile();
		List<String> arguments = List.of(run.servers().address(backend).toString(), type.label(), name() + "-" + round,
				file.toString());
		try (ChildProcess one = run.startChild(Child.Task.PING_PONG, plus(arguments, "1"));
				ChildProcess two = run.startChild(Child.Task.PING_PONG, plus(arguments, "2"))) {
			List<ChildReport> reports = SeveralProcesses.goTogether(List.of(one, two),
					run.options().pick(Duration.ofMillis(4000), Duration.ofMillis(700)),
					run.options().pick(Duration.ofSeconds(4), Duration.ofMillis(1300)));
			Histogram latencies = new Histogram(3);
			reports.forEach((report) -> latencies.add(report.histogram()));
			Figures figures = new Figures(run.results(), new Series(name(), backend.label(), type.label(), Metric.P50));
			figures.latencies(latencies);
			figures.add(Metric.VIOLATIONS, reports.stream().mapToDouble((r) -> r.figure("violations")).sum());
		}
		finally {
			Files.delete(file);
		}
	}

	private static List<String> plus(List<String> arguments, String last) {
		return Stream.concat(arguments.stream(), Stream.of(last)).toList();
	}

}
