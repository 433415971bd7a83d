package io.dlock.torture.judge;

import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Troubles}.
 */
class TroublesTests {

	private final RunBuilder run = new RunBuilder();

	@Test
	void i14CallWithoutARivalFails() {
		this.run.trouble(1000, 1010, Event.UNKNOWN);
		assertBroken(Invariant.I14);
	}

	@Test
	void i14CallWithoutARivalMayFailWithTheStore() {
		this.run.fault(900, 1005, "F5", "node-0").trouble(1000, 1100, Event.UNKNOWN);
		assertBroken();
	}

	@Test
	void i14CallWithoutARivalMayFailInAPause() {
		this.run.fault(900, 2000, "F1", "client-0").trouble(890, 2010, Event.UNKNOWN);
		assertBroken();
	}

	@ParameterizedTest
	@CsvSource({ "1090, true", "1110, false" })
	void i14CallWithoutARivalFailsInAShortPause(long end, boolean broken) {
		this.run.slow(1000, end).trouble(990, 1120, Event.UNKNOWN);
		assertThat(this.run.broken().contains(Invariant.I14)).isEqualTo(broken);
	}

	@Test
	void i14OwnLoadIsNoReasonToFail() {
		this.run.fault(900, 2000, "F30", "client-0")
			.fault(2100, 2200, "F28b", "client-0")
			.fault(2300, 2400, "F27", "client-0")
			.trouble(1000, 1010, Event.UNKNOWN);
		assertBroken(Invariant.I14);
	}

	@Test
	void i14RefusalOfAKeyWithoutARivalHasNoExcuse() {
		this.run.fault(900, 2000, "F5", "node-0").trouble(1000, 1010, Event.REFUSED);
		assertBroken(Invariant.I14);
	}

	@Test
	void i14CallWithoutARivalWaits() {
		this.run.trouble(1000, 1390, Event.GRANTED);
		assertBroken();
		this.run.trouble(1000, 1410, Event.GRANTED);
		assertBroken(Invariant.I14);
	}

	@Test
	void i9CallWithoutARivalTakesTooLong() {
		this.run.fault(900, 5000, "F5", "node-0").trouble(1000, 3190, Event.UNKNOWN);
		assertBroken();
		this.run.trouble(1000, 3210, Event.UNKNOWN);
		assertBroken(Invariant.I9);
	}

	@Test
	void i20LockIsLostWithoutAReason() {
		this.run.fault(100, 450, "F12", "link-0").trouble(3000, 3000, Event.LOST);
		assertBroken(Invariant.I20);
	}

	@Test
	void i20LockIsLostInAHiccupOfTheMachine() {
		this.run.slow(2500, 2700).trouble(3000, 3000, Event.LOST);
		assertBroken(Invariant.I20);
	}

	@Test
	void i20LeaseOfTheLockTellsWhichFaultExcuses() {
		this.run.fault(900, 1200, "F12", "link-0").trouble(3000, 3000, Event.LOST, "lease=1000");
		assertBroken(Invariant.I20);
	}

	@Test
	void i20LockMayBeLostWithTheNetwork() {
		this.run.fault(500, 700, "F12", "link-0").trouble(3000, 3000, Event.LOST);
		assertBroken();
	}

	@Test
	void i20NetworkOfAnotherIsNoReasonForALoss() {
		this.run.fault(500, 3000, "F12", "link-1").trouble(3000, 3000, Event.RELEASED_LOST);
		assertBroken(Invariant.I20);
	}

	@Test
	void i10UndocumentedFailure() {
		this.run.fault(500, 3000, "F5", "node-0").trouble(1000, 1001, Event.FAILED);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10ReleaseFails() {
		this.run.fault(500, 3000, "F5", "node-0").trouble(1000, 1001, Event.RELEASE_FAILED);
		assertBroken(Invariant.I10);
	}

	private void assertBroken(Invariant... invariants) {
		assertThat(this.run.judge().violations()).extracting(Violation::invariant)
			.containsExactlyElementsOf(Arrays.asList(invariants));
	}

}
