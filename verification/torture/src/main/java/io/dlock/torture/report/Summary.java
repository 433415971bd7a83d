package io.dlock.torture.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.dlock.torture.judge.Coverage;
import io.dlock.torture.judge.Recoveries;

/**
 * The report of a run, or of several runs of the same kind put together.
 *
 * @param runs the names of the runs
 * @param kind who was tortured, on which store, in which tier, with which lease
 * @param seeds the seeds
 * @param broken whether something was broken that must hold
 * @param vacuous the events that did not happen in any of the runs, empty if they prove
 * something
 * @param unproven the data that one of them lacks and the invariants that it did not
 * judge
 * @param seconds how long they took
 * @param counts cycles, faults and whatever else can be added up
 * @param violations the violations of each invariant
 * @param coverage the coverage of each invariant
 * @param mustHold the invariants that must hold
 * @param fenced whether there are fencing tokens
 * @param recovery how soon locks were available again
 */
record Summary(List<String> runs, Kind kind, List<String> seeds, boolean broken, List<String> vacuous,
		List<String> unproven, double seconds, Map<String, Long> counts, Map<String, Long> violations,
		Map<String, Coverage> coverage, List<String> mustHold, boolean fenced, Recoveries recovery) {

	/**
	 * Read the report of a run.
	 * @param directory the directory of the run
	 * @throws IOException if there is no report
	 */
	static Summary read(Path directory) throws IOException {
		JsonNode report = JsonMapper.shared().readTree(Files.readString(directory.resolve("report.json")));
		if (!report.has("coverage")) {
			throw new IllegalArgumentException("The report of " + directory + " is too old; judge the run again with "
					+ Rejudge.class.getName() + " first");
		}
		JsonNode figures = report.path("figures");
		Map<String, Long> counts = new LinkedHashMap<>();
		Stream
			.of("cycles", "cyclesUnderFault", "lost", "takeOvers", "rejectedWrites", "unfencedUpdates",
					"unfencedUpdatesLost")
			.forEach((name) -> counts.put(name, figures.path(name).asLong()));
		counts.put("faults", sum(figures.path("faults")));
		counts.put("keysLeft", left(report, "store locks", "gone"));
		counts.put("connectionsLeft", left(report, "store connections", "gone"));
		counts.put("threadsLeft", left(report, "threads of the locks", "closed"));
		Map<String, Long> violations = new LinkedHashMap<>();
		report.path("violations")
			.properties()
			.forEach((entry) -> violations.put(entry.getKey(), entry.getValue().asLong()));
		Map<String, Coverage> coverage = new LinkedHashMap<>();
		report.path("coverage")
			.properties()
			.forEach((entry) -> coverage.put(entry.getKey(),
					new Coverage(entry.getValue().path("judged").asLong(), entry.getValue().path("excused").asLong())));
		return new Summary(List.of(report.path("run").asString()),
				new Kind(report.path("contender").asString(), report.path("store").asString(),
						report.path("tier").asString(), report.path("lease").asString()),
				List.of(report.path("seed").asString()), report.path("verdict").asString().equals("BROKEN"),
				texts(report.path("vacuous")), texts(report.path("unproven")), figures.path("seconds").asDouble(),
				counts, violations, coverage, texts(report.path("mustHold")), report.path("fenced").asBoolean(),
				JsonMapper.shared().treeToValue(figures.path("recovery"), Recoveries.class));
	}

	private static long sum(JsonNode numbers) {
		return numbers.properties().stream().mapToLong((entry) -> entry.getValue().asLong()).sum();
	}

	private static long left(JsonNode report, String what, String phase) {
		long left = 0;
		for (JsonNode leftover : report.path("leftovers")) {
			if (leftover.path("what").asString().endsWith(what)) {
				left += leftover.path("phases").path(phase).asLong();
			}
		}
		return left;
	}

	private static List<String> texts(JsonNode array) {
		List<String> texts = new ArrayList<>();
		array.forEach((text) -> texts.add(text.asString()));
		return texts;
	}

	/**
	 * Add the figures of another run of the same kind to these. An event that happened in
	 * one of them need not happen in the other; data that one lacks are missing for both,
	 * and both are broken if one is.
	 * @return both
	 */
	Summary plus(Summary other) {
		if (!other.kind.equals(this.kind)) {
			throw new IllegalArgumentException(
					"Runs of different kinds cannot be added up: " + this.kind + " and " + other.kind);
		}
		return new Summary(joined(this.runs, other.runs), this.kind, joined(this.seeds, other.seeds),
				this.broken || other.broken, this.vacuous.stream().filter(other.vacuous::contains).toList(),
				Stream.concat(this.unproven.stream(), other.unproven.stream()).distinct().toList(),
				this.seconds + other.seconds, added(this.counts, other.counts),
				added(this.violations, other.violations), covered(this.coverage, other.coverage),
				Stream.concat(this.mustHold.stream(), other.mustHold.stream()).distinct().toList(), this.fenced,
				new Recoveries(joined(this.recovery.beyondLease(), other.recovery.beyondLease()),
						joined(this.recovery.beyondEnd(), other.recovery.beyondEnd()),
						joined(this.recovery.afterHeal(), other.recovery.afterHeal()), this.recovery.deathTarget(),
						this.recovery.healTarget()));
	}

	private static <T> List<T> joined(List<T> one, List<T> other) {
		return Stream.concat(one.stream(), other.stream()).toList();
	}

	private static Map<String, Long> added(Map<String, Long> one, Map<String, Long> other) {
		Map<String, Long> sums = new LinkedHashMap<>(one);
		other.forEach((name, number) -> sums.merge(name, number, Long::sum));
		return sums;
	}

	private static Map<String, Coverage> covered(Map<String, Coverage> one, Map<String, Coverage> other) {
		Map<String, Coverage> sums = new LinkedHashMap<>(one);
		other.forEach((name, coverage) -> sums.merge(name, coverage, Coverage::plus));
		return sums;
	}

	long count(String name) {
		return this.counts.getOrDefault(name, 0L);
	}

	String verdict() {
		if (this.broken) {
			return "BROKEN";
		}
		List<String> invalid = joined(this.vacuous, this.unproven);
		return invalid.isEmpty() ? "CLEAN" : "INVALID: " + String.join(", ", invalid);
	}

	/**
	 * Runs that may be added up.
	 *
	 * @param contender who was tortured
	 * @param store on which store
	 * @param tier with which faults
	 * @param lease with which lease
	 */
	record Kind(String contender, String store, String tier, String lease) {

	}

}
