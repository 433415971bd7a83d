package io.dlock.torture.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.dlock.torture.judge.Coverage;
import io.dlock.torture.judge.Invariant;
import io.dlock.torture.judge.Percentiles;

/**
 * Prints the reports of several runs side by side, as a table in Markdown. With
 * {@code --total} first, runs of the same contender, store, tier and lease are added up:
 * a campaign may be cut into several runs.
 */
public final class Compare {

	private static final String TOTAL = "--total";

	private final List<Summary> columns;

	private final StringBuilder table = new StringBuilder();

	private Compare(Collection<Summary> columns) {
		this.columns = List.copyOf(columns);
	}

	public static void main(String[] args) throws IOException {
		List<String> directories = new ArrayList<>(List.of(args));
		boolean total = directories.remove(TOTAL);
		if (directories.isEmpty()) {
			System.err.println("compare [" + TOTAL + "] <directory of a run>...");
			System.exit(2);
		}
		List<Summary> runs = new ArrayList<>();
		for (String directory : directories) {
			runs.add(Summary.read(Path.of(directory)));
		}
		System.out.print(table(total ? totals(runs) : runs));
	}

	static Collection<Summary> totals(List<Summary> runs) {
		Map<Summary.Kind, Summary> totals = new LinkedHashMap<>();
		runs.forEach((run) -> totals.merge(run.kind(), run, Summary::plus));
		return totals.values();
	}

	static String table(Collection<Summary> columns) {
		return new Compare(columns).table();
	}

	private String table() {
		row("", (run) -> run.kind().contender() + " on " + run.kind().store());
		row("---", (run) -> "---");
		row("runs, seeds", (run) -> (run.runs().size() == 1) ? run.runs().get(0) + ", " + run.seeds().get(0)
				: run.runs().size() + " runs, " + String.join(" ", run.seeds()));
		row("tier, lease", (run) -> run.kind().tier() + ", " + run.kind().lease());
		row("verdict", Summary::verdict);
		row("time", (run) -> number("%,.1f min", run.seconds() / 60));
		row("cycles", (run) -> number("%,d", run.count("cycles")));
		row("of them under a fault", (run) -> number("%,d", run.count("cyclesUnderFault")));
		row("faults", (run) -> number("%,d", run.count("faults")));
		row("lost, taken over", (run) -> number("%,d, %,d", run.count("lost"), run.count("takeOvers")));
		for (Invariant invariant : Invariant.values()) {
			row(invariant.name() + " " + invariant.title(), (run) -> violations(run, invariant));
		}
		row("stale writes rejected", (run) -> run.fenced() ? number("%,d", run.count("rejectedWrites")) : "no fence");
		row("unfenced updates lost", Compare::unfenced);
		row("left over: keys, connections, threads", (run) -> number("%,d, %,d, %,d", run.count("keysLeft"),
				run.count("connectionsLeft"), run.count("threadsLeft")));
		row("back after death, beyond the lease: p50, p99, max", (run) -> times(run.recovery().beyondLease()));
		row("99 of 100 within lease + 250 ms",
				(run) -> target(run.recovery().beyondLease(), run.recovery().isDeathTargetMet()));
		row("back after death, beyond its end", (run) -> times(run.recovery().beyondEnd()));
		row("back after heal: p50, p99, max", (run) -> times(run.recovery().afterHeal()));
		row("all within 3 timeouts", (run) -> target(run.recovery().afterHeal(), run.recovery().isHealTargetMet())
				+ number(" (%.0f ms)", run.recovery().healTarget()));
		return this.table.toString();
	}

	private void row(String name, Function<Summary, String> cell) {
		this.table
			.append(this.columns.stream().map(cell).collect(Collectors.joining(" | ", "| " + name + " | ", " |\n")));
	}

	/**
	 * The number of violations, and the part that is judged.
	 */
	private static String violations(Summary run, Invariant invariant) {
		long count = run.violations().getOrDefault(invariant.name(), 0L);
		boolean judged = run.mustHold().contains(invariant.name());
		String text = number(judged ? "%,d" : "(%,d)", count);
		Coverage coverage = run.coverage().getOrDefault(invariant.name(), new Coverage(0, 0));
		long all = coverage.judged() + coverage.excused();
		return (all > 0)
				? text + number(" of %,d judged, %.1f %% excused", coverage.judged(), 100 * coverage.excusedShare())
				: text;
	}

	private static String unfenced(Summary run) {
		long updates = run.count("unfencedUpdates");
		long lost = run.count("unfencedUpdatesLost");
		return number("%,d of %,d, %.3f %%", lost, updates, (updates > 0) ? 100.0 * lost / updates : 0);
	}

	private static String times(List<Double> samples) {
		Percentiles times = Percentiles.of(samples);
		return samples.isEmpty() ? "no sample"
				: number("%.0f, %.0f, %.0f ms (%d)", times.p50(), times.p99(), times.max(), times.count());
	}

	static String target(List<Double> samples, boolean met) {
		if (samples.isEmpty()) {
			return "no sample";
		}
		return met ? "met" : "MISSED";
	}

	private static String number(String format, Object... values) {
		return String.format(Locale.ROOT, format, values);
	}

}
