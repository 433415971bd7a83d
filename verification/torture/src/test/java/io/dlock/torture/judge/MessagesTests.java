package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Messages} (I15).
 */
class MessagesTests {

	private final RunBuilder run = new RunBuilder();

	@Test
	void i15TurnsComeLateAsLongAsMessagesAreLost() {
		this.run.fault(10_000, 40_000, "F34", "client-1");
		handOvers(1000, 8);
		handOvers(12_000, 50);
		assertThat(this.run.broken()).isEmpty();
		handOvers(26_000, 50);
		assertThat(this.run.broken()).containsExactly(Invariant.I15);
	}

	@Test
	void i15FewTurnsInTimeAreNoProofThatMessagesArrive() {
		this.run.fault(10_000, 40_000, "F34", "client-1");
		handOvers(1000, 8);
		handOvers(1, 26_000, 50, 6);
		handOvers(1, 30_000, 8, 4);
		assertThat(this.run.broken()).containsExactly(Invariant.I15);
	}

	@Test
	void i15TurnsComeInTimeAgainWhenTheSilenceIsNoticed() {
		this.run.fault(10_000, 40_000, "F34", "client-1");
		handOvers(1000, 8);
		handOvers(12_000, 50);
		handOvers(26_000, 12);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i15SlowStoreIsAReason() {
		this.run.fault(10_000, 40_000, "F34", "client-1").fault(25_500, 28_000, "F7", "store");
		handOvers(1000, 8);
		handOvers(26_000, 50);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i15SilenceOfAnotherClientIsNoneOfThisOne() {
		this.run.fault(10_000, 40_000, "F34", "client-0");
		handOvers(1000, 8);
		handOvers(26_000, 50);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i15MessagesAreLostWithoutAReason() {
		handOvers(1, 1000, 50, 100);
		handOvers(2, 22_000, 8, 100);
		assertThat(this.run.broken()).containsExactly(Invariant.I15);
	}

	@Test
	void i15SlowMachineIsAReason() {
		handOvers(1, 1000, 50, 100);
		handOvers(2, 22_000, 45, 100);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i15FaultOfTheClientIsAReasonUntilItIsNoticed() {
		this.run.fault(7000, 8000, "F11", "client-1");
		handOvers(1, 1000, 50, 130);
		handOvers(2, 28_000, 8, 100);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i15FewTurnsAreNoProof() {
		handOvers(1, 1000, 50, 99);
		handOvers(2, 22_000, 8, 100);
		assertThat(this.run.broken()).isEmpty();
	}

	/**
	 * From the first client to the second, ten times.
	 */
	private void handOvers(long from, long millis) {
		handOvers(1, from, millis, 10);
	}

	private void handOvers(int client, long from, long millis, int times) {
		for (int i = 0; i < times; i++) {
			long at = from + i * 200;
			long token = 2 * at;
			this.run.attempt(0, 0, at).granted(at + 1, token).held(at + 1, at + 9, token, at + 900).released(at + 10);
			long granted = at + 10 + millis;
			this.run.attempt(client, 0, at + 5)
				.granted(granted, token + 1)
				.held(granted, granted + 1, token + 1, granted + 900)
				.released(granted + 2);
		}
	}

}
