package io.dlock.benchmarks.report;

/**
 * The subject of a row of figures, one for each round.
 *
 * @param scenario the scenario
 * @param store where the locks were, or what else distinguishes two tables
 * @param contender the contender
 * @param metric what was measured
 */
public record Series(String scenario, String store, String contender, Metric metric) {
}
