package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Restorations} (I15).
 */
class RestorationsTests {

	private final RunBuilder run = new RunBuilder();

	@Test
	void i15ProcessHasNoLockAfterThePromotion() {
		demotion().attempt(0, Keys.privateKey(0, 0), 1600).waiting(1000).then(2600, Event.UNKNOWN);
		assertThat(this.run.broken()).containsExactly(Invariant.I15);
	}

	@Test
	void i15LocksOfAnotherProcessAreNoHelp() {
		demotion().attempt(0, Keys.privateKey(0, 0), 1600).waiting(1000).then(2600, Event.UNKNOWN);
		this.run.attempt(1, Keys.privateKey(1, 0), 1600).granted(1700, 2).held(1701, 1710, 2, 2700).released(1711);
		assertThat(this.run.judge().violations()).singleElement()
			.extracting(Violation::text)
			.asString()
			.startsWith("client-0-0 got no lock");
	}

	@Test
	void i15ProcessHasALockTooLate() {
		demotion();
		this.run.attempt(0, Keys.privateKey(0, 0), 1400).granted(1890, 2).held(1891, 1900, 2, 2800).released(1901);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(1, Keys.privateKey(1, 0), 1400).granted(1910, 3).held(1911, 1920, 3, 2800).released(1921);
		assertThat(this.run.broken()).containsExactly(Invariant.I15);
	}

	@Test
	void i15ProcessHasNoLockAfterTheSecondPromotion() {
		demotion().attempt(0, Keys.privateKey(0, 0), 1400).granted(1600, 2).held(1601, 1610, 2, 2500).released(1611);
		this.run.fault(5000, 7000, "F24", "store").restored(5500);
		this.run.attempt(0, Keys.privateKey(0, 0), 5600).waiting(1000).then(6600, Event.UNKNOWN);
		assertThat(this.run.broken()).containsExactly(Invariant.I15);
	}

	@Test
	void i15ProcessThatWantsNothingOrHasTroubleOfItsOwnProvesNothing() {
		demotion().fault(1400, 2800, "F12", "link-0");
		this.run.attempt(0, Keys.privateKey(0, 0), 1600).waiting(1000).then(2600, Event.UNKNOWN);
		this.run.attempt(1, Keys.privateKey(1, 0), 3000).granted(3001, 2).held(3002, 3003, 2, 4000).released(3004);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i15LeaseThatIsPassedOnIsNoLockOfTheStore() {
		demotion().tokensPerLease(1024);
		this.run.attempt(0, 0, 1500).granted(1501, 1025).held(1501, 1502, 1025, 1600).released(1503);
		this.run.attempt(0, Keys.privateKey(0, 0), 1600).waiting(1000).then(2600, Event.UNKNOWN);
		assertThat(this.run.broken()).containsExactly(Invariant.I15);
	}

	/**
	 * No session can write from 1000 on, and from 1500 on only new ones can.
	 */
	private RunBuilder demotion() {
		return this.run.fault(1000, 3000, "F24", "store").restored(1500);
	}

}
