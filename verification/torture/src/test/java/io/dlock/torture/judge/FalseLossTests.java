package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.history.Event;

/**
 * Tests for locks that are lost without a reason (I20), or are never valid (I10).
 */
class FalseLossTests extends AbstractRunTests {

	@Test
	void i20RenewedLockIsLostWithoutReason() {
		this.run.attempt(0, 0, 100)
			.renewed()
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1091, Event.LOST)
			.then(1092, Event.RELEASE_SENT)
			.then(1093, Event.RELEASED_LOST);
		assertBroken(Invariant.I20);
	}

	@Test
	void i20LockIsLostBeforeItsDeadline() {
		lostAt(1087);
		assertBroken(Invariant.I20);
	}

	@Test
	void i20LockIsLostByTheClockThatCountsMilliseconds() {
		lostAt(1089);
		assertBroken();
	}

	private void lostAt(long at) {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(at, Event.LOST)
			.then(1092, Event.RELEASE_SENT)
			.then(1093, Event.RELEASED_LOST);
	}

	@Test
	void i20LossIsNotExcusedByAFaultThatWasOverBeforeItsLastRenewal() {
		this.run.fault(100, 200, "F12", "link-0");
		renewedAndLostAt(2190);
		assertBroken(Invariant.I20);
	}

	@Test
	void i20LossIsExcusedByAFaultInWhichItWasNotRenewed() {
		this.run.fault(900, 1900, "F12", "link-0");
		renewedAndLostAt(2190);
		assertBroken();
	}

	@Test
	void i20LossIsNotExcusedByAHiccupOfTheMachine() {
		this.run.slow(1500, 1640);
		renewedAndLostAt(2190);
		assertBroken(Invariant.I20);
	}

	@Test
	void i20LossIsExcusedByAMachineThatStandsStill() {
		this.run.slow(1500, 2100);
		renewedAndLostAt(2190);
		assertBroken();
	}

	private void renewedAndLostAt(long at) {
		this.run.attempt(0, 0, 100)
			.renewed()
			.granted(110, 1)
			.held(111, at - 10, 1, at)
			.then(at, Event.LOST)
			.then(at + 2, Event.RELEASE_SENT)
			.then(at + 3, Event.RELEASED_LOST);
	}

	@Test
	void i10GrantThatHasNeverBeenValid() {
		neverValid(0, 100);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10ProcessMayBeStoppedBetweenAGrantAndItsCaller() {
		this.run.fault(101, 1150, "F1", "client-0");
		neverValid(0, 100);
		neverValid(1, 100);
		assertBroken();
		neverValid(2, 100);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10GrantOfAFutureMayReachItsThreadTooLate() {
		this.run.attempt(0, 0, 100)
			.then(100, Event.ASYNC)
			.granted(110, 1)
			.then(1150, Event.FOUND_LOST)
			.then(1151, Event.RELEASE_SENT)
			.then(1152, Event.RELEASED_LOST);
		assertBroken();
	}

	@Test
	void i10GrantThatWasValidWhenItsCallReturned() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1, 1090)
			.then(1150, Event.FOUND_LOST)
			.then(1151, Event.RELEASE_SENT)
			.then(1152, Event.RELEASED_LOST);
		assertBroken();
	}

	private void neverValid(int key, long at) {
		this.run.attempt(0, key, at)
			.granted(at + 1060, 1)
			.then(at + 1061, Event.FOUND_LOST)
			.then(at + 1062, Event.RELEASE_SENT)
			.then(at + 1063, Event.RELEASED_LOST);
	}

}
