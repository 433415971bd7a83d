package io.dlock.benchmarks.report;

/**
 * What a row of figures, one for each round, is about.
 *
 * @param scenario the scenario
 * @param store where the locks were, or what else distinguishes two tables
 * @param contender who was measured
 * @param metric what was measured
 */
public record Series(String scenario, String store, String contender, Metric metric) {
}
