package io.dlock.benchmarks.report;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;

class ResultsTests {

	private final Results results = new Results();

	private static Series throughput(String contender) {
		return new Series(ScenarioNames.ONE_KEY_THREADS, "redis", contender, Metric.THROUGHPUT);
	}

	private void add(String contender, double... rounds) {
		for (double figure : rounds) {
			this.results.add(throughput(contender), figure);
		}
	}

	@Test
	void ratiosAreTakenRoundByRound() {
		add("dlock", 10, 40, 90);
		add("raw", 10, 20, 30);
		assertThat(this.results.ratio(throughput("dlock"), throughput("raw"))).contains(new Summary(2, 1, 3));
		assertThat(this.results.ratio(throughput("dlock"), throughput("redisson"))).isEmpty();
	}

	@Test
	void theBestPeerCounts() {
		add("dlock", 3000);
		add("raw", 9000);
		add("redisson", 100);
		add("shedlock", 150);
		assertThat(Targets.all().stream().map((target) -> target.outcome(this.results))).contains(
				new Target.Outcome("redis, one key, 16 threads: throughput / best peer", "≥ 15.00", "20.00", "met"));
	}

	@Test
	void twoKeysAreComparedWithOne() {
		addP50("dlock", 200, 400, 300);
		addP50("dlock, two keys", 300, 500, 360);
		assertThat(Targets.all().stream().map((target) -> target.outcome(this.results)))
			.contains(new Target.Outcome("redis, two keys at once, 1 thread: p50 / one key", "≤ 1.30", "1.25", "met"));
	}

	private void addP50(String contender, double... rounds) {
		for (double figure : rounds) {
			this.results.add(new Series(ScenarioNames.TWO_KEYS, "redis", contender, Metric.P50), figure);
		}
	}

	@Test
	void unmeasuredTargetIsNotMissed() {
		assertThat(Targets.all().stream().map((target) -> target.outcome(this.results).verdict()))
			.containsOnly("not measured");
	}

	@Test
	void violationsOfAContenderAreAddedUp() {
		this.results.add(new Series("hand-off", "redis", "dlock", Metric.VIOLATIONS), 1);
		this.results.add(new Series("held", "redis", "dlock", Metric.VIOLATIONS), 2);
		this.results.add(new Series("held", "redis", "shedlock", Metric.VIOLATIONS), 5);
		assertThat(this.results.violations("dlock")).isEqualTo(3);
	}

	@Test
	void theTableShowsMedianSpreadAndRatio() {
		add("dlock", 1000, 3000, 2000);
		add("raw", 1000, 1000, 1000);
		assertThat(new TextReport(this.results, Map.of()).render()).contains("2,000 (1,000–3,000)", "2.00 (1.00–3.00)");
	}

	@Test
	void theJsonHasEveryFigure() {
		add("dlock", 1000, 3000);
		assertThat(JsonReport.of(this.results, Map.of("Date", "today")).render()).contains("\"today\"", "1000.0",
				"3000.0", "\"cycles/s\"");
	}

	@Test
	void barsOfTheChartAreAsLongAsTheirFigures() throws Exception {
		add("dlock", 100_000);
		add("raw", 25_000);
		Document chart = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new InputSource(new StringReader(new ThroughputChart(this.results).render())));
		Map<String, String> widths = new HashMap<>();
		NodeList rectangles = chart.getElementsByTagName("rect");
		for (int i = 0; i < rectangles.getLength(); i++) {
			Element rectangle = (Element) rectangles.item(i);
			widths.put(rectangle.getAttribute("class"), rectangle.getAttribute("width"));
		}
		assertThat(widths).containsEntry("dlock", "200")
			.containsEntry("raw", "50")
			.containsOnlyKeys("card", "dlock", "raw");
	}

	/**
	 * With {@code -Ddlock.docs.write=true} the chart is drawn anew.
	 */
	@Test
	void chartOfTheReadmeShowsTheFiguresOfTheResults() throws IOException {
		Pattern row = Pattern.compile("  (\\S+) +([\\d,]+) \\(.*");
		String scenario = "";
		String store = "";
		for (String line : Files.readAllLines(Path.of("RESULTS.md"))) {
			Matcher figure = row.matcher(line);
			if (line.startsWith("one-key-")) {
				scenario = line.replaceAll(",.*", "");
				store = line.replaceAll(".*, ", "");
			}
			else if (line.isEmpty()) {
				scenario = "";
			}
			else if (!scenario.isEmpty() && figure.matches()) {
				this.results.add(new Series(scenario, store, figure.group(1), Metric.THROUGHPUT),
						Double.parseDouble(figure.group(2).replace(",", "")));
			}
		}
		assertThat(this.results.figures()).hasSizeGreaterThan(20);
		String drawn = new ThroughputChart(this.results).render();
		Path chart = Path.of("chart.svg");
		if (Boolean.getBoolean("dlock.docs.write")) {
			Files.writeString(chart, drawn);
		}
		assertThat(chart).as("chart.svg is out of date: write it with -Ddlock.docs.write=true").hasContent(drawn);
	}

}
