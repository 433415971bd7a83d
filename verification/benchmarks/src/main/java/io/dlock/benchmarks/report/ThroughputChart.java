package io.dlock.benchmarks.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ContenderType;

/**
 * A drawing of how fast one key changes hands. Its colours can be read on white and on
 * black, since a drawing in a README cannot know its background.
 */
public final class ThroughputChart {

	private static final int WIDTH = 880;

	private static final int PANEL_WIDTH = 430;

	private static final int BAR_HEIGHT = 16;

	private static final int STEP = 22;

	private static final int NAMES = 130;

	private static final int BARS = 190;

	private static final int PANEL_HEAD = 28;

	private static final String GREY = "#848d97";

	private static final List<String> SCENARIOS = List.of(ScenarioNames.ONE_KEY_THREADS, ScenarioNames.ONE_KEY_JVMS);

	private static final Map<String, String> TITLES = Map.of(ScenarioNames.ONE_KEY_THREADS, "16 threads of one JVM",
			ScenarioNames.ONE_KEY_JVMS, "3 JVMs × 4 threads");

	private final Results results;

	public ThroughputChart(Results results) {
		this.results = results;
	}

	/**
	 * Draw the chart.
	 * @return an SVG document
	 */
	public String render() {
		StringBuilder panels = new StringBuilder();
		int top = 40;
		double longest = longest();
		for (String scenario : SCENARIOS) {
			int height = 0;
			for (Backend backend : Backend.values()) {
				List<Bar> bars = bars(scenario, backend.label());
				int left = (backend == Backend.REDIS) ? 0 : WIDTH - PANEL_WIDTH;
				panels.append(panel(left, top, backend.label() + ", " + TITLES.get(scenario), bars, longest));
				height = Math.max(height, PANEL_HEAD + bars.size() * STEP + 14);
			}
			top += height;
		}
		return """
				<svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" font-family="system-ui, sans-serif" font-size="12" fill="%3$s">
				<title>Cycles per second of one contended key</title>
				<text x="0" y="18" font-size="15" font-weight="bold">One contended key: acquire + release per second</text>
				%4$s</svg>
				"""
			.formatted(WIDTH, top, GREY, panels);
	}

	private List<Bar> bars(String scenario, String store) {
		List<Bar> bars = new ArrayList<>();
		for (ContenderType type : ContenderType.DISTRIBUTED) {
			this.results.summary(new Series(scenario, store, type.label(), Metric.THROUGHPUT))
				.ifPresent((summary) -> bars.add(new Bar(type, summary.median())));
		}
		bars.sort(Comparator.comparingDouble(Bar::value).reversed());
		return bars;
	}

	/**
	 * The value of the longest bar: all panels have the same scale.
	 */
	private double longest() {
		return SCENARIOS.stream()
			.flatMap((scenario) -> Stream.of(Backend.values())
				.flatMap((backend) -> bars(scenario, backend.label()).stream()))
			.mapToDouble(Bar::value)
			.max()
			.orElse(1);
	}

	private static String panel(int left, int top, String title, List<Bar> bars, double longest) {
		StringBuilder svg = new StringBuilder(
				"<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n".formatted(left, top + 14, title));
		int y = top + PANEL_HEAD;
		for (Bar bar : bars) {
			int width = Math.max(2, (int) (BARS * bar.value() / longest));
			svg.append("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n".formatted(left + NAMES, y + 12,
					bar.type().label()));
			svg.append("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"%s\"/>\n"
				.formatted(left + NAMES + 8, y, width, BAR_HEIGHT, bar.colour()));
			svg.append("<text x=\"%d\" y=\"%d\">%s</text>\n".formatted(left + NAMES + 14 + width, y + 12,
					String.format(Locale.ROOT, "%,.0f", bar.value())));
			y += STEP;
		}
		return svg.toString();
	}

	/**
	 * A bar.
	 *
	 * @param type the contender
	 * @param value cycles per second
	 */
	private record Bar(ContenderType type, double value) {

		String colour() {
			return switch (this.type) {
				case DLOCK -> "#2da44e";
				case RAW -> GREY;
				default -> "#4c8eda";
			};
		}

	}

}
