package io.dlock.torture.judge;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The verdict of the judge about a campaign.
 *
 * @param lossy whether the store lost what it had acknowledged, or its clock stepped
 * @param counts the violations of each invariant
 * @param coverage the coverage of each invariant
 * @param violations the first of them
 * @param vacuous the events that had to be survived and did not happen, empty if the run
 * proves something
 * @param unproven the missing data and the invariants that were not judged, empty if the
 * run proves something
 * @param figures what was measured
 * @param leftovers what there was before and after
 * @param options what the campaign was asked to do
 */
public record Verdict(boolean lossy, Map<Invariant, Integer> counts, Map<Invariant, Coverage> coverage,
		List<Violation> violations, List<String> vacuous, List<String> unproven, Figures figures,
		List<Leftover> leftovers, Map<String, String> options) {

	/**
	 * Whether nothing was broken that must hold.
	 * @return whether the run is green, if it is valid
	 */
	public boolean isClean() {
		return this.counts.entrySet()
			.stream()
			.noneMatch((entry) -> entry.getValue() > 0 && entry.getKey().mustHold(this.lossy));
	}

	/**
	 * Whether the run proves something.
	 * @return whether everything happened that has to be survived, and was judged
	 */
	public boolean isValid() {
		return this.vacuous.isEmpty() && this.unproven.isEmpty();
	}

	/**
	 * The verdict in a line, with the number of judged cases of each invariant that must
	 * hold.
	 * @return the line
	 */
	public String line() {
		String judged = this.coverage.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().mustHold(this.lossy))
			.map((entry) -> entry.getKey() + " " + entry.getValue().judged())
			.collect(Collectors.joining(", "));
		String why = isValid() ? "" : Stream.concat(this.vacuous.stream(), this.unproven.stream())
			.collect(Collectors.joining("; ", " (", ")"));
		return "%s%s: %d locks, the machine was slow for %.0f of %.0f s; judged %s".formatted(word(), why,
				this.figures.cycles(), this.figures.slowSeconds(), this.figures.seconds(), judged);
	}

	/**
	 * The verdict in a word.
	 * @return {@code CLEAN}, {@code BROKEN} or {@code INVALID}
	 */
	public String word() {
		if (!isClean()) {
			return "BROKEN";
		}
		return isValid() ? "CLEAN" : "INVALID";
	}

	/**
	 * The exit code of a program that judged.
	 * @return 0 if the run is clean, 1 if it is broken, 2 if it proves nothing
	 */
	public int exitCode() {
		if (!isClean()) {
			return 1;
		}
		return isValid() ? 0 : 2;
	}

}
