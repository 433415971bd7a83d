package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Deadlines} (I9).
 */
class DeadlinesTests {

	private final RunBuilder run = new RunBuilder();

	@Test
	void i9FutureEndsLongAfterItsWaitTimeThoughTheStoreIsDown() {
		this.run.commandTimeout(1000).fault(500, 5000, "F6", "node-0");
		this.run.attempt(0, 0, 1000).waiting(300).then(1000, Event.ASYNC).then(1540, Event.UNKNOWN);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(0, 1, 2000).waiting(300).then(2000, Event.ASYNC).then(2560, Event.UNKNOWN);
		assertThat(this.run.broken()).containsExactly(Invariant.I9);
	}

	@Test
	void i9FutureThatDoesNotWaitHasASecondForItsOnlyCall() {
		this.run.commandTimeout(100).fault(500, 5000, "F6", "node-0");
		this.run.attempt(0, 0, 1000).waiting(0).then(1000, Event.ASYNC).then(2150, Event.UNKNOWN);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(0, 1, 2500).waiting(0).then(2500, Event.ASYNC).then(3760, Event.UNKNOWN);
		assertThat(this.run.broken()).containsExactly(Invariant.I9);
	}

	@Test
	void i9FutureForSeveralAccountsHasASecondForEach() {
		this.run.fault(500, 20_000, "F6", "node-0");
		this.run.attempt(0, 40_000, 1000).waiting(300).then(1000, Event.ASYNC).then(5400, Event.UNKNOWN);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(0, 40_001, 6000).waiting(300).then(6000, Event.ASYNC).then(10_700, Event.UNKNOWN);
		assertThat(this.run.broken()).containsExactly(Invariant.I9);
	}

	@Test
	void i9FutureThatNeverEnds() {
		this.run.attempt(0, 0, 1000).waiting(300).then(1000, Event.ASYNC);
		assertThat(this.run.broken()).containsExactly(Invariant.I9);
	}

	@Test
	void i9FutureMayWaitForItsClientToRun() {
		this.run.fault(1100, 3000, "F1", "client-0");
		this.run.attempt(0, 0, 1000).waiting(300).then(1000, Event.ASYNC).then(3300, Event.UNKNOWN);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i9CallWithAThreadHasItsOwnLimit() {
		this.run.commandTimeout(1000).fault(500, 5000, "F6", "node-0");
		this.run.attempt(0, 0, 1000).waiting(300).then(2390, Event.UNKNOWN);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i9CallToADatabaseWaitsForAPlaceAndForAConnection() {
		this.run.commandTimeout(250).fault(500, 5000, "F32", "store");
		this.run.attempt(0, 0, 1000).waiting(10).then(1450, Event.UNKNOWN);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(0, 1, 2000).waiting(10).then(2470, Event.UNKNOWN);
		assertThat(this.run.broken()).containsExactly(Invariant.I9);
	}

}
