package com.example.orders;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The metrics that the sample shows to Prometheus: the dashboard and the page about it
 * ask only for metrics that exist.
 */
@SpringBootTest(properties = { "spring.datasource.url=jdbc:h2:mem:metrics", "orders.work-time=1ms",
		"orders.report-cron=-", "management.prometheus.metrics.export.enabled=true" })
@AutoConfigureMockMvc
class MetricsTests {

	private static final Path DOCS = Path.of("..", "docs");

	private static final Pattern METER = Pattern.compile("\\bdlock_[a-z_]+");

	private static final Pattern SUM = Pattern.compile("by \\(([a-z_, ]+)\\) \\((?:[a-z]+\\()?(dlock_[a-z_]+)");

	/** A label that Prometheus adds. */
	private static final String INSTANCE = " instance=\"";

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private OrderService orders;

	@Autowired
	private StockService stock;

	private String scrape() throws Exception {
		this.stock.set("book", 10);
		this.orders.place(new Order("book", 1));
		return this.mvc.get().uri("/actuator/prometheus").exchange().getMvcResult().getResponse().getContentAsString();
	}

	private static Set<String> metersIn(String text) {
		Set<String> meters = new TreeSet<>();
		Matcher matcher = METER.matcher(text);
		while (matcher.find()) {
			meters.add(matcher.group());
		}
		return meters;
	}

	@Test
	void metersOfTheDashboardExist() throws Exception {
		JsonNode dashboard = JsonMapper.shared().readTree(Files.readString(DOCS.resolve("grafana-dashboard.json")));
		Set<String> asked = new TreeSet<>();
		dashboard.findValuesAsString("expr").forEach((query) -> asked.addAll(metersIn(query)));
		dashboard.findValuesAsString("definition").forEach((query) -> asked.addAll(metersIn(query)));
		assertThat(asked).hasSizeGreaterThan(10);
		assertThat(metersIn(scrape())).containsAll(asked);
	}

	/**
	 * Prometheus answers a sum by a label that does not exist, but shows no label.
	 */
	@Test
	void labelsOfTheDashboardExist() throws Exception {
		List<String> queries = JsonMapper.shared()
			.readTree(Files.readString(DOCS.resolve("grafana-dashboard.json")))
			.findValuesAsString("expr");
		List<MatchResult> sums = queries.stream().flatMap((query) -> SUM.matcher(query).results()).toList();
		assertThat(sums).extracting((sum) -> sum.group(1)).contains("kind", "name, kind", "name, reason");
		List<String> scraped = scrape().lines().toList();
		assertThat(sums)
			.allSatisfy((sum) -> assertThat(sum.group(1).split(", ")).allSatisfy((label) -> assertThat(scraped)
				.anyMatch((line) -> line.startsWith(sum.group(2) + "{") && (line + INSTANCE).contains(label + "=\""))));
	}

	@Test
	void eachPanelHasADescription() throws Exception {
		JsonNode dashboard = JsonMapper.shared().readTree(Files.readString(DOCS.resolve("grafana-dashboard.json")));
		assertThat(dashboard.get("panels")).filteredOn((panel) -> !panel.get("type").asString().equals("row"))
			.hasSizeGreaterThan(20)
			.allSatisfy((panel) -> assertThat(panel.get("description").asString()).as(panel.get("title").asString())
				.hasSizeGreaterThan(30));
		assertThat(dashboard.get("panels").findValuesAsString("id")).doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@ValueSource(strings = { "observability.md", "incidents.md" })
	void metersOfThePageExist(String page) throws Exception {
		Set<String> named = metersIn(Files.readString(DOCS.resolve(page)).replaceAll("(?m)^SELECT .*", ""));
		assertThat(named).hasSizeGreaterThan(5);
		assertThat(metersIn(scrape())).containsAll(named);
	}

	@Test
	void locksOfAllKindsAreMetered() throws Exception {
		this.stock.report("book");
		assertThat(this.mvc.get().uri("/export")).hasStatusOk();
		assertThat(scrape()).contains("dlock_hold_seconds_count{name=\"stock\",outcome=\"released\"}",
				"dlock_hold_seconds_count{name=\"stock-export\",outcome=\"released\"}",
				"dlock_held{kind=\"shared\",name=\"stock\"}", "dlock_held{kind=\"permit\",name=\"stock-export\"}");
	}

	@Test
	void metersAreTaggedByTheNameOfTheLockAndNotByTheProduct() throws Exception {
		assertThat(scrape().lines().filter((line) -> line.startsWith("dlock_"))).isNotEmpty()
			.anyMatch((line) -> line.startsWith("dlock_wait_seconds_count{") && line.contains("outcome=\"acquired\""))
			.noneMatch((line) -> line.contains("book"));
	}

}
