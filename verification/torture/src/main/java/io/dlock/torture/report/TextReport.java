package io.dlock.torture.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import io.dlock.torture.judge.Coverage;
import io.dlock.torture.judge.Figures;
import io.dlock.torture.judge.Invariant;
import io.dlock.torture.judge.Leftover;
import io.dlock.torture.judge.Percentiles;
import io.dlock.torture.judge.Recoveries;
import io.dlock.torture.judge.Verdict;
import io.dlock.torture.judge.Violation;

/**
 * The figures of a run as a table.
 */
final class TextReport {

	private final StringBuilder text = new StringBuilder();

	private TextReport() {
	}

	static String of(String run, Verdict verdict) {
		TextReport report = new TextReport();
		report.line("run", run);
		report.line("options", joined(verdict.options()));
		report.line("verdict", verdict.word() + (verdict.lossy() ? " (tier L)" : " (tier S)"));
		verdict.vacuous().forEach((reason) -> report.line("invalid", reason));
		verdict.unproven().forEach((reason) -> report.line("invalid", reason));
		report.figures(verdict.figures());
		verdict.counts().forEach((invariant, count) -> report.invariant(verdict, invariant, count));
		verdict.leftovers().forEach(report::leftover);
		verdict.violations().forEach(report::violation);
		return report.text.toString();
	}

	private void figures(Figures figures) {
		line("time", "%.0f s, %d client processes; the machine was slow for %.1f s".formatted(figures.seconds(),
				figures.clients(), figures.slowSeconds()));
		line("cycles", "%d, %d of them under a fault".formatted(figures.cycles(), figures.cyclesUnderFault()));
		line("calls", joined(figures.outcomes()));
		figures.kinds().forEach((kind, calls) -> line("  " + kind, calls.toString()));
		line("faults",
				figures.faults().values().stream().mapToInt(Integer::intValue).sum() + ": " + joined(figures.faults()));
		line("survived", "%d lost, %d taken over, %d writes rejected".formatted(figures.lost(), figures.takeOvers(),
				figures.rejectedWrites()));
		line("unfenced updates lost", "%.3f %%, %d of %d".formatted(100 * figures.unfencedLossRate(),
				figures.unfencedUpdatesLost(), figures.unfencedUpdates()));
		recovery(figures.recovery());
		line("wait for a lock",
				percentiles(figures.waits()) + ", overtaken at most " + figures.mostOvertaken() + " times");
	}

	private void recovery(Recoveries recovery) {
		line("recovery after death", percentiles(recovery.beyondLease()) + ", beyond the lease");
		line("", percentiles(recovery.beyondEnd()) + ", beyond what was left of the lease");
		line("  99 of 100 within lease + %.0f ms".formatted(recovery.deathTarget()),
				Compare.target(recovery.beyondLease(), recovery.isDeathTargetMet()));
		line("recovery after heal", percentiles(recovery.afterHeal()));
		line("  all within %.0f ms".formatted(recovery.healTarget()),
				Compare.target(recovery.afterHeal(), recovery.isHealTargetMet()));
	}

	private static String percentiles(List<Double> samples) {
		return percentiles(Percentiles.of(samples));
	}

	private void invariant(Verdict verdict, Invariant invariant, int count) {
		String judged = invariant.mustHold(verdict.lossy()) ? "" : " (counted)";
		Coverage coverage = verdict.coverage().getOrDefault(invariant, new Coverage(0, 0));
		String limit = "";
		int least = invariant.leastJudged(verdict.options());
		if (invariant.mustHold(verdict.lossy()) && least > 0) {
			limit = ", at least %d judged".formatted(least);
		}
		else if (invariant.mustHold(verdict.lossy()) && invariant.mostExcused() < 1) {
			limit = ", at most %.0f %%".formatted(100 * invariant.mostExcused());
		}
		line(invariant.name() + " " + invariant.title(), "%d%s; %d judged, %d excused (%.1f %%%s)".formatted(count,
				judged, coverage.judged(), coverage.excused(), 100 * coverage.excusedShare(), limit));
	}

	private void leftover(Leftover leftover) {
		line("  " + leftover.what(), joined(leftover.phases()));
	}

	private void violation(Violation violation) {
		line("  " + violation.invariant(), violation.nanos() + " " + violation.text());
	}

	private void line(String name, String value) {
		this.text.append(String.format(Locale.ROOT, "%-32s %s%n", name, value));
	}

	private static String joined(Map<String, ?> values) {
		return values.entrySet()
			.stream()
			.map((entry) -> entry.getKey() + " " + entry.getValue())
			.collect(Collectors.joining(", "));
	}

	private static String percentiles(Percentiles of) {
		return String.format(Locale.ROOT, "p50 %.0f ms, p99 %.0f ms, max %.0f ms (%d)", of.p50(), of.p99(), of.max(),
				of.count());
	}

}
