package io.dlock.torture.judge;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that build a run and say which invariants it breaks.
 */
abstract class AbstractRunTests {

	final RunBuilder run = new RunBuilder();

	final void assertBroken(Invariant... expected) {
		assertThat(this.run.broken()).containsExactlyInAnyOrder(expected);
	}

}
