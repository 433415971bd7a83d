package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the time in which a store grants no lock because it may have forgotten some.
 */
class QuarantineTests {

	private static final String VACUOUS = "no call was told of a quarantine";

	private final RunBuilder run = new RunBuilder().option("quarantine", "true");

	@Test
	void i10QuarantineBeginsWithTheFirstCallAfterAFailover() {
		this.run.fault(1000, 3000, "F16", "node-0");
		this.run.attempt(0, 0, 4300).waiting(0).then(4301, Event.QUARANTINED);
		assertThat(this.run.broken()).isEmpty();
		assertThat(this.run.judge().vacuous()).doesNotContain(VACUOUS);
	}

	@ParameterizedTest
	@ValueSource(strings = { "F4", "F5", "F14", "F15", "F16", "F17", "F19", "F21", "F35" })
	void i10FaultsAfterWhichAStoreMayHaveForgottenAreReasons(String fault) {
		this.run.fault(1000, 3000, fault, "node-0");
		this.run.attempt(0, 0, 2000).waiting(0).then(2001, Event.QUARANTINED);
		assertThat(this.run.judge().counts().get(Invariant.I10)).isZero();
	}

	@Test
	void i10QuarantineComesToAnEnd() {
		this.run.fault(1000, 3000, "F16", "node-0");
		this.run.attempt(0, 0, 4500).waiting(0).then(4501, Event.QUARANTINED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10OtherFaultsAreNoReasonForAQuarantine() {
		this.run.fault(1000, 3000, "F6", "node-0");
		this.run.attempt(0, 0, 2000).waiting(0).then(2001, Event.QUARANTINED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10PromotionOfAStandbyIsAReasonAndOtherFaultsWithItsNumberAreNot() {
		this.run.fault(1000, 3000, "F24", "store promote-standby");
		this.run.attempt(0, 0, 2000).waiting(0).then(2001, Event.QUARANTINED);
		assertThat(this.run.broken()).isEmpty();
		this.run.fault(11_000, 13_000, "F24", "store read-only");
		this.run.attempt(0, 0, 12_000).waiting(0).then(12_001, Event.QUARANTINED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10QuarantineIsNotForStoresThatGrantLocksAtOnce() {
		RunBuilder at = new RunBuilder().fault(1000, 3000, "F16", "node-0");
		at.attempt(0, 0, 2000).waiting(0).then(2001, Event.QUARANTINED);
		assertThat(at.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10KeyOfTheFloodIsInQuarantine() {
		this.run.fault(1000, 3000, "F14", "node-0")
			.trouble(2000, 2001, Event.QUARANTINED)
			.trouble(4500, 4501, Event.QUARANTINED);
		assertThat(this.run.judge().counts().get(Invariant.I10)).isOne();
	}

	@Test
	void i14KeyIsAvailableAfterAQuarantine() {
		int key = Keys.privateKey(0, 0);
		this.run.fault(1000, 3000, "F16", "node-0");
		this.run.attempt(0, key, 3500).waiting(1000).then(4500, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I14);
	}

	@Test
	void i10KeptLockIsForgotten() {
		kept(this.run);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i20KeptLockIsLostWithoutAReason() {
		RunBuilder without = new RunBuilder();
		kept(without);
		assertThat(without.broken()).containsExactly(Invariant.I20);
	}

	/**
	 * The store has forgotten it without being away.
	 */
	private static void kept(RunBuilder run) {
		run.fault(500, 550, "F14", "node-0");
		run.attempt(0, Keys.keptKey(0), 100)
			.renewed()
			.granted(110, 1)
			.held(111, 540, 1, 1090)
			.then(560, Event.LOST)
			.then(1500, Event.RELEASE_SENT)
			.then(1501, Event.RELEASED_LOST);
	}

	@Test
	void runWithoutAQuarantineProvesNothing() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		assertThat(this.run.judge().vacuous()).contains(VACUOUS);
	}

}
