package io.dlock.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.report.JsonReport;
import io.dlock.benchmarks.report.Results;
import io.dlock.benchmarks.report.TextReport;
import io.dlock.benchmarks.report.ThroughputChart;
import io.dlock.benchmarks.scenario.BenchmarkRun;
import io.dlock.benchmarks.scenario.Scenario;

/**
 * Measures everything and writes it down.
 */
public final class Benchmarks {

	private static final Path DIRECTORY = Path.of("target", "benchmarks");

	private Benchmarks() {
	}

	public static void main(String[] args) throws Exception {
		Options options = Options.parse(args);
		List<String> names = Scenario.all().stream().map(Scenario::name).toList();
		if (!names.containsAll(options.only())) {
			throw new IllegalArgumentException("Only these scenarios exist: " + names);
		}
		Files.createDirectories(DIRECTORY);
		Results results = new Results();
		try (Servers servers = Servers.start(options.stores())) {
			Map<String, String> environment = Environment.describe(servers, args);
			BenchmarkRun run = new BenchmarkRun(options, servers, results, DIRECTORY);
			for (Scenario scenario : Scenario.all()) {
				if (options.includes(scenario.name())) {
					run(scenario, run);
					write(results, environment);
				}
			}
			new PrintStream(System.out, true, StandardCharsets.UTF_8)
				.print(new TextReport(results, environment).render());
		}
		System.exit((results.violations(ContenderType.DLOCK.label()) > 0) ? 1 : 0);
	}

	/**
	 * A scenario that fails does not take the figures of the others with it.
	 */
	private static void run(Scenario scenario, BenchmarkRun run) throws InterruptedException {
		long start = System.nanoTime();
		System.err.print(scenario.name() + " … ");
		try {
			scenario.run(run);
		}
		catch (InterruptedException ex) {
			throw ex;
		}
		catch (Exception ex) {
			run.results().note(scenario.name() + " FAILED: " + ex);
			ex.printStackTrace(System.err);
		}
		System.err.printf("%d s%n", (System.nanoTime() - start) / 1_000_000_000);
	}

	private static void write(Results results, Map<String, String> environment) throws IOException {
		Files.writeString(DIRECTORY.resolve("results.txt"), new TextReport(results, environment).render());
		Files.writeString(DIRECTORY.resolve("results.json"), JsonReport.of(results, environment).render());
		Files.writeString(DIRECTORY.resolve("chart.svg"), new ThroughputChart(results).render());
	}

}
