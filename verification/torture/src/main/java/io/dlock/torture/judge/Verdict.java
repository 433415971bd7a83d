package io.dlock.torture.judge;

import java.util.List;
import java.util.Map;

/**
 * What the judge says about a campaign.
 *
 * @param lossy whether the store lost what it had acknowledged, or its clock stepped
 * @param counts the violations of each invariant
 * @param excused what is not counted as a violation, for a reason that the invariant
 * names
 * @param violations the first of them
 * @param vacuous why the run proves nothing, empty if it does
 * @param figures what was measured
 * @param leftovers what there was before and after
 * @param options what the campaign was asked to do
 */
public record Verdict(boolean lossy, Map<Invariant, Integer> counts, Map<Invariant, Integer> excused,
		List<Violation> violations, List<String> vacuous, Figures figures, List<Leftover> leftovers,
		Map<String, String> options) {

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
	 * @return whether everything happened that has to be survived
	 */
	public boolean isValid() {
		return this.vacuous.isEmpty();
	}

}
