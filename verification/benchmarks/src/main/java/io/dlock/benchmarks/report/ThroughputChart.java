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
 * A drawing of how fast one key changes hands. All bars have one linear scale. The
 * drawing has a background of its own, light or dark, since a drawing in a README cannot
 * know the one that it is on.
 */
public final class ThroughputChart {

	private static final int WIDTH = 880;

	private static final int MARGIN = 20;

	private static final int PANEL_WIDTH = 420;

	private static final int BAR_HEIGHT = 16;

	private static final int STEP = 24;

	private static final int NAMES = 136;

	private static final int BARS = 200;

	private static final int PANEL_HEAD = 30;

	private static final int PANEL_FOOT = 44;

	/** The largest number of lines of the scale, without the one for zero. */
	private static final int LINES = 5;

	private static final String STYLE = """
			text { fill: #1f2328 } .quiet { fill: #59636e } .card { fill: #ffffff; stroke: #d1d9e0 } .line { stroke: #d1d9e0 }
			.value { paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
			.dlock { fill: #1a7f37 } .peer { fill: #0969da } .raw { fill: #818b98 }
			@media (prefers-color-scheme: dark) {
			text { fill: #f0f6fc } .quiet { fill: #9198a1 } .card { fill: #0d1117; stroke: #3d444d } .line { stroke: #3d444d }
			.value { stroke: #0d1117 }
			.dlock { fill: #3fb950 } .peer { fill: #4493f8 } .raw { fill: #9198a1 }
			}
			""";

	private static final List<String> SCENARIOS = List.of(ScenarioNames.ONE_KEY_THREADS, ScenarioNames.ONE_KEY_JVMS);

	private static final Map<String, String> TITLES = Map.of(ScenarioNames.ONE_KEY_THREADS, "16 threads of one JVM",
			ScenarioNames.ONE_KEY_JVMS, "3 JVMs × 4 threads");

	private static final Map<Backend, String> STORES = Map.of(Backend.REDIS, "Redis", Backend.POSTGRES, "PostgreSQL");

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
		int top = 56;
		double longest = longest();
		for (String scenario : SCENARIOS) {
			int height = 0;
			for (Backend backend : Backend.values()) {
				List<Bar> bars = bars(scenario, backend.label());
				int left = (backend == Backend.REDIS) ? MARGIN : WIDTH - MARGIN - PANEL_WIDTH;
				panels.append(panel(left, top, STORES.get(backend) + ", " + TITLES.get(scenario), bars, longest));
				height = Math.max(height, PANEL_HEAD + bars.size() * STEP + PANEL_FOOT);
			}
			top += height;
		}
		return """
				<svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" font-family="system-ui, sans-serif" font-size="13">
				<title>Cycles per second of one contended key</title>
				<style>
				%3$s</style>
				<rect class="card" x="0.5" y="0.5" width="%4$d" height="%5$d" rx="6"/>
				<text x="%6$d" y="34" font-size="17" font-weight="bold">One contended key: acquire + release, times per second</text>
				%7$s</svg>
				"""
			.formatted(WIDTH, top, STYLE, WIDTH - 1, top - 1, MARGIN, panels);
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
		int zero = left + NAMES + 8;
		int y = top + PANEL_HEAD;
		svg.append(scale(zero, y - 4, y + bars.size() * STEP - 4, longest));
		for (Bar bar : bars) {
			int width = Math.max(1, (int) Math.round(BARS * bar.value() / longest));
			String weight = (bar.type() == ContenderType.DLOCK) ? " font-weight=\"bold\"" : "";
			svg.append("<text x=\"%d\" y=\"%d\" text-anchor=\"end\"%s>%s</text>\n".formatted(left + NAMES, y + 13,
					weight, bar.name()));
			svg.append("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n".formatted(bar.colour(),
					zero, y, width, BAR_HEIGHT));
			svg.append("<text class=\"value\" x=\"%d\" y=\"%d\"%s>%s</text>\n".formatted(zero + width + 6, y + 13,
					weight, number(bar.value())));
			y += STEP;
		}
		return svg.toString();
	}

	private static String scale(int zero, int top, int bottom, double longest) {
		double distance = distance(longest);
		StringBuilder svg = new StringBuilder();
		for (int i = 0; i * distance <= longest; i++) {
			int x = zero + (int) Math.round(BARS * i * distance / longest);
			svg.append("<line class=\"line\" x1=\"%1$d\" y1=\"%2$d\" x2=\"%1$d\" y2=\"%3$d\"/>\n".formatted(x, top,
					bottom));
			svg.append("<text class=\"quiet\" x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"11\">%s</text>\n"
				.formatted(x, bottom + 14, number(i * distance)));
		}
		return svg.toString();
	}

	/**
	 * The distance between two lines of the scale: 1, 2 or 5 with zeros.
	 */
	private static double distance(double longest) {
		double distance = 1;
		for (int i = 0; longest / distance > LINES; i++) {
			distance *= (i % 3 == 1) ? 2.5 : 2;
		}
		return distance;
	}

	private static String number(double value) {
		return String.format(Locale.ROOT, "%,.0f", value);
	}

	/**
	 * A bar.
	 *
	 * @param type the contender
	 * @param value cycles per second
	 */
	private record Bar(ContenderType type, double value) {

		String name() {
			return switch (this.type) {
				case RAW -> "raw commands";
				case REDISSON -> "Redisson";
				case REDISSON_FENCED -> "Redisson, fenced";
				case REDISSON_FAIR -> "Redisson, fair";
				case SPRING_INTEGRATION -> "Spring Integration";
				case SHEDLOCK -> "ShedLock";
				default -> this.type.label();
			};
		}

		String colour() {
			return switch (this.type) {
				case DLOCK -> "dlock";
				case RAW -> "raw";
				default -> "peer";
			};
		}

	}

}
