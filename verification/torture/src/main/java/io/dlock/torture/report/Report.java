package io.dlock.torture.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import tools.jackson.databind.json.JsonMapper;

import io.dlock.torture.judge.Evidence;
import io.dlock.torture.judge.Invariant;
import io.dlock.torture.judge.Judge;
import io.dlock.torture.judge.Verdict;

/**
 * The report of a run, beside what it was made from.
 */
public final class Report {

	private Report() {
	}

	/**
	 * Judge a run, and write {@code report.txt}, {@code report.json} and, what happened
	 * about the violations, {@code evidence.txt} into its directory.
	 * @param directory the directory of the run
	 * @return the verdict
	 * @throws IOException if the report cannot be written
	 */
	public static Verdict write(Path directory) throws IOException {
		Verdict verdict = Judge.judge(directory, Judge.SLACK);
		Files.writeString(directory.resolve("report.txt"), text(directory, verdict));
		Files.writeString(directory.resolve("report.json"), json(directory, verdict));
		Files.write(directory.resolve("evidence.txt"), Evidence.of(directory, verdict));
		return verdict;
	}

	/**
	 * The report in words.
	 * @param directory the directory of the run
	 * @param verdict the verdict
	 * @return some lines
	 */
	public static String text(Path directory, Verdict verdict) {
		return TextReport.of(name(directory), verdict);
	}

	private static String json(Path directory, Verdict verdict) {
		Map<String, Object> report = new LinkedHashMap<>();
		report.put("run", name(directory));
		Map<String, String> options = verdict.options();
		report.put("contender", options.getOrDefault("contender", "unknown"));
		report.put("store", options.getOrDefault("store", "unknown").toLowerCase(Locale.ROOT).replace('_', '-'));
		report.put("tier", verdict.lossy() ? "L" : "S");
		report.put("seed", options.getOrDefault("seed", "unknown"));
		report.put("lease", options.getOrDefault("lease", "unknown"));
		report.put("options", options);
		report.put("verdict", verdict.word());
		report.put("lossy", verdict.lossy());
		report.put("vacuous", verdict.vacuous());
		report.put("unproven", verdict.unproven());
		report.put("figures", verdict.figures());
		report.put("fenced", verdict.figures().fenced());
		report.put("mustHold",
				Stream.of(Invariant.values()).filter((invariant) -> invariant.mustHold(verdict.lossy())).toList());
		report.put("violations", verdict.counts());
		report.put("coverage", verdict.coverage());
		report.put("leftovers", verdict.leftovers());
		report.put("examples", verdict.violations());
		return JsonMapper.builder().build().writerWithDefaultPrettyPrinter().writeValueAsString(report);
	}

	private static String name(Path directory) {
		return directory.toAbsolutePath().normalize().getFileName().toString();
	}

}
