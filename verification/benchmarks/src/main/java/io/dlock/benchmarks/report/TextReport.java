package io.dlock.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The results for people.
 */
public final class TextReport {

	private final Results results;

	private final Map<String, String> environment;

	public TextReport(Results results, Map<String, String> environment) {
		this.results = results;
		this.environment = environment;
	}

	/**
	 * Write all tables.
	 * @return the text
	 */
	public String render() {
		StringBuilder text = new StringBuilder();
		this.environment.forEach((name, value) -> text.append("%-9s %s%n".formatted(name, value)));
		text.append("Medians (lowest–highest) of the rounds; a ratio is the median of the ratios within a round.\n");
		for (String table : tables()) {
			text.append('\n').append(table).append('\n');
			text.append(render(rows(table)));
		}
		text.append("\nTargets\n").append(render(targets()));
		this.results.notes().forEach((note) -> text.append(note).append('\n'));
		return text.toString();
	}

	private Set<String> tables() {
		return this.results.figures()
			.keySet()
			.stream()
			.map(TextReport::table)
			.collect(Collectors.toCollection(LinkedHashSet::new));
	}

	private static String table(Series series) {
		return series.scenario() + ", " + series.store();
	}

	private List<List<String>> rows(String table) {
		List<Series> all = this.results.figures().keySet().stream().filter((s) -> table(s).equals(table)).toList();
		List<Metric> metrics = all.stream().map(Series::metric).distinct().toList();
		String reference = Targets.reference(all.get(0).scenario());
		boolean withReference = all.stream().anyMatch((s) -> s.contender().equals(reference));
		List<List<String>> rows = new ArrayList<>();
		List<String> head = new ArrayList<>(List.of(""));
		metrics.forEach((metric) -> head.add(metric.label()));
		if (withReference) {
			head.add(2, "/ " + reference);
		}
		rows.add(head);
		for (String contender : all.stream().map(Series::contender).distinct().toList()) {
			Series first = all.stream().filter((s) -> s.contender().equals(contender)).findFirst().orElseThrow();
			List<String> row = new ArrayList<>(List.of(contender));
			metrics.forEach((metric) -> row.add(cell(on(first, metric), metric == metrics.get(0))));
			if (withReference) {
				row.add(2, ratio(on(first, metrics.get(0)), reference));
			}
			rows.add(row);
		}
		return rows;
	}

	private static Series on(Series series, Metric metric) {
		return new Series(series.scenario(), series.store(), series.contender(), metric);
	}

	private String cell(Series series, boolean withSpread) {
		return this.results.summary(series).map((summary) -> {
			String median = series.metric().format(summary.median());
			boolean spread = withSpread && summary.min() != summary.max();
			return spread ? "%s (%s–%s)".formatted(median, series.metric().format(summary.min()),
					series.metric().format(summary.max())) : median;
		}).orElse("");
	}

	private String ratio(Series series, String contender) {
		Series reference = new Series(series.scenario(), series.store(), contender, series.metric());
		Optional<Summary> ratio = series.equals(reference) ? Optional.empty() : this.results.ratio(series, reference);
		return ratio.map((r) -> String.format(Locale.ROOT, "%.2f (%.2f–%.2f)", r.median(), r.min(), r.max()))
			.orElse("");
	}

	private List<List<String>> targets() {
		List<List<String>> rows = new ArrayList<>();
		rows.add(List.of("", "wanted", "measured", ""));
		for (Target target : Targets.all()) {
			Target.Outcome outcome = target.outcome(this.results);
			rows.add(List.of(outcome.target(), outcome.wanted(), outcome.measured(), outcome.verdict()));
		}
		return rows;
	}

	private static String render(List<List<String>> rows) {
		StringBuilder text = new StringBuilder();
		for (List<String> row : rows) {
			StringBuilder line = new StringBuilder();
			for (int column = 0; column < row.size(); column++) {
				int index = column;
				int width = rows.stream().mapToInt((r) -> r.get(index).length()).max().orElse(0);
				String cell = row.get(column);
				String padding = " ".repeat(width - cell.length());
				line.append("  ").append((column == 0) ? cell + padding : padding + cell);
			}
			text.append(line.toString().stripTrailing()).append('\n');
		}
		return text.toString();
	}

}
