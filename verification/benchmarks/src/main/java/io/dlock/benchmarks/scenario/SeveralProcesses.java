package io.dlock.benchmarks.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.HdrHistogram.Histogram;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.LockKind;
import io.dlock.benchmarks.load.SharedExclusion;
import io.dlock.benchmarks.load.SharedWords;
import io.dlock.benchmarks.load.Window;
import io.dlock.benchmarks.process.Child;
import io.dlock.benchmarks.process.ChildProcess;
import io.dlock.benchmarks.process.ChildReport;
import io.dlock.benchmarks.report.Metric;
import io.dlock.benchmarks.report.Series;

/**
 * One key, and the threads of three JVMs that want it. With shared locks, a tenth of the
 * cycles takes the exclusive one.
 *
 * @param name the name
 * @param kind the kind of lock
 * @param suitable the contenders
 */
record SeveralProcesses(String name, LockKind kind, Set<ContenderType> suitable) implements Scenario {

	private static final int JVMS = 3;

	private static final int THREADS = 4;

	@Override
	public void run(BenchmarkRun run) throws InterruptedException, IOException {
		for (Backend backend : run.servers().backends()) {
			for (int round = 0; round < run.options().pick(3, 1); round++) {
				for (ContenderType type : run.contendersInJvms(backend, this.suitable)) {
					measure(run, backend, type, round);
				}
			}
		}
	}

	private void measure(BenchmarkRun run, Backend backend, ContenderType type, int round)
			throws InterruptedException, IOException {
		Path file = run.newSharedFile();
		List<ChildProcess> children = new ArrayList<>();
		try {
			for (int i = 0; i < JVMS; i++) {
				children.add(run.startChild(Child.Task.CONTEND,
						List.of(run.servers().address(backend).toString(), type.label(), this.name + "-" + round,
								file.toString(), Integer.toString(THREADS), Integer.toString(1 + i * THREADS),
								this.kind.name())));
			}
			List<ChildReport> reports = goTogether(children,
					run.options().pick(Duration.ofSeconds(3), Duration.ofMillis(1200)),
					run.options().pick(Duration.ofSeconds(5), Duration.ofMillis(1500)));
			record(run, new Series(this.name, backend.label(), type.label(), Metric.THROUGHPUT), reports, file);
		}
		finally {
			children.forEach(ChildProcess::close);
			Files.delete(file);
		}
	}

	static List<ChildReport> goTogether(List<ChildProcess> children, Duration warmUp, Duration measured)
			throws InterruptedException {
		for (ChildProcess child : children) {
			child.await("ready");
		}
		Window window = Window.after(System.nanoTime(), warmUp, measured);
		children.forEach((child) -> child.tell("go " + window.from() + " " + window.until()));
		List<ChildReport> reports = new ArrayList<>();
		for (ChildProcess child : children) {
			reports.add(child.result());
		}
		return reports;
	}

	private void record(BenchmarkRun run, Series series, List<ChildReport> reports, Path file) {
		double slowest = reports.stream().mapToDouble((r) -> r.figure("cyclesPerSecond")).min().orElseThrow();
		double fastest = reports.stream().mapToDouble((r) -> r.figure("cyclesPerSecond")).max().orElseThrow();
		Figures figures = new Figures(run.results(), series);
		figures.add(Metric.THROUGHPUT, sum(reports, "cyclesPerSecond"));
		figures.add(Metric.FAIRNESS, (fastest > 0) ? slowest / fastest : 0.0);
		// of the JVM that has to wait the longest
		List<Histogram> waits = reports.stream().map(ChildReport::histogram).toList();
		figures.add(Metric.P50, waits.stream().mapToLong((h) -> h.getValueAtPercentile(50)).max().orElseThrow() / 1e3);
		figures.add(Metric.P99, waits.stream().mapToLong((h) -> h.getValueAtPercentile(99)).max().orElseThrow() / 1e3);
		figures.add(Metric.MAX, waits.stream().mapToLong(Histogram::getMaxValue).max().orElseThrow() / 1e3);
		long counted = new SharedExclusion(SharedWords.in(file)).cycles();
		figures.add(Metric.VIOLATIONS, sum(reports, "violations") + Math.abs(sum(reports, "cycles") - counted));
		figures.add(Metric.ERRORS, sum(reports, "errors"));
		reports.stream()
			.map(ChildReport::error)
			.filter((error) -> error != null)
			.findFirst()
			.ifPresent((error) -> run.results().note(series.contender() + " in " + this.name + ": " + error));
	}

	private static double sum(List<ChildReport> reports, String figure) {
		return reports.stream().mapToDouble((report) -> report.figure(figure)).sum();
	}

}
