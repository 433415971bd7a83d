package io.dlock.benchmarks.report;

import java.util.List;
import java.util.Map;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results for programs.
 *
 * @param environment where, when and how they were measured
 * @param results every series
 * @param targets every target
 * @param notes what else is to say
 */
public record JsonReport(Map<String, String> environment, List<Row> results, List<Target.Outcome> targets,
		List<String> notes) {

	/**
	 * Make the report.
	 * @param results the results
	 * @param environment where, when and how they were measured
	 * @return the report
	 */
	public static JsonReport of(Results results, Map<String, String> environment) {
		List<Row> rows = results.figures()
			.entrySet()
			.stream()
			.map((entry) -> Row.of(entry.getKey(), entry.getValue()))
			.toList();
		List<Target.Outcome> targets = Targets.all().stream().map((target) -> target.outcome(results)).toList();
		return new JsonReport(environment, rows, targets, results.notes());
	}

	public String render() {
		return JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build().writeValueAsString(this);
	}

	/**
	 * A series.
	 *
	 * @param scenario the scenario
	 * @param store where the locks were
	 * @param contender who was measured
	 * @param metric what was measured
	 * @param unit its unit
	 * @param median the median of the rounds
	 * @param values the figure of every round
	 */
	record Row(String scenario, String store, String contender, String metric, String unit, double median,
			List<Double> values) {

		private static Row of(Series series, List<Double> values) {
			return new Row(series.scenario(), series.store(), series.contender(), series.metric().name(),
					series.metric().label(), Summary.of(values).median(), values);
		}

	}

}
