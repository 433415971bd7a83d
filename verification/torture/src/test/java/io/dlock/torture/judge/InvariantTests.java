package io.dlock.torture.judge;

import java.util.Arrays;
import java.util.function.Predicate;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Invariant}: which of them fail a run, and how much of each has to be
 * judged.
 */
class InvariantTests {

	@Test
	void starvationIsOnlyReported() {
		assertThat(those((invariant) -> !invariant.mustHold(false))).containsExactly(Invariant.I13);
	}

	/**
	 * A lock that the store has forgotten may be granted twice or look lost.
	 */
	@Test
	void storeThatLosesDataBreaksFewInvariants() {
		assertThat(those((invariant) -> !invariant.mustHold(true))).containsExactly(Invariant.I1, Invariant.I8,
				Invariant.I10, Invariant.I12, Invariant.I13, Invariant.I14, Invariant.I20);
	}

	@Test
	void safetyHasNoExcuses() {
		assertThat(those((invariant) -> invariant.mostExcused() == 0)).containsExactly(Invariant.I1, Invariant.I2,
				Invariant.I4, Invariant.I5, Invariant.I12, Invariant.I17, Invariant.I19);
		assertThat(those((invariant) -> invariant.mostExcused() == 0.75)).containsExactly(Invariant.I7, Invariant.I8,
				Invariant.I10, Invariant.I14, Invariant.I20);
		assertThat(those((invariant) -> invariant.mostExcused() == 0.1)).containsExactly(Invariant.I6, Invariant.I9);
		assertThat(Invariant.I3.mostExcused()).isEqualTo(0.05);
	}

	@Test
	void runThatDoesNotJudgeWhatEachRunHasProvesNothing() {
		assertThat(those(Invariant::isAlwaysJudged)).containsExactly(Invariant.I1, Invariant.I2, Invariant.I3,
				Invariant.I4, Invariant.I5, Invariant.I6, Invariant.I9, Invariant.I10, Invariant.I11, Invariant.I12,
				Invariant.I14, Invariant.I20);
	}

	private static Invariant[] those(Predicate<Invariant> chosen) {
		return Arrays.stream(Invariant.values()).filter(chosen).toArray(Invariant[]::new);
	}

}
