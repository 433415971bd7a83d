package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for free keys that are not granted (I10, I14).
 */
class AvailabilityTests extends AbstractRunTests {

	private static final int PRIVATE = Keys.privateKey(0, 0);

	@Test
	void i10CallOfAProcessThatIsStoppedAtOnceIsGrantedToNoHolder() {
		this.run.fault(100, 3000, "F2", "client-0");
		this.run.attempt(0, 0, 105).waiting(0).then(3001, Event.UNKNOWN);
		this.run.attempt(1, 0, 500).waiting(500).then(1000, Event.REFUSED);
		assertBroken();
	}

	/**
	 * A holder that is stopped before its first check: pauses before its grant do not
	 * shorten the lease.
	 */
	@Test
	void i10PausesBeforeTheGrantDoNotShortenALease() {
		this.run.fault(1000, 3000, "F1", "client-0");
		this.run.fault(4990, 8000, "F1", "client-0");
		this.run.attempt(0, 0, 4970)
			.granted(4980, 1)
			.then(8001, Event.LOST)
			.then(8002, Event.RELEASE_SENT)
			.then(8003, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 5050).waiting(800).then(5850, Event.REFUSED);
		assertBroken();
	}

	@Test
	void i10GrantWhoseReplyIsDelayedIsInTheWayBeforeItsCallReturns() {
		this.run.fault(105, 3000, "F9", "client-0");
		this.run.attempt(0, 0, 100).waiting(600).then(700, Event.UNKNOWN);
		this.run.attempt(1, 0, 110).waiting(580).then(690, Event.REFUSED);
		assertBroken();
	}

	@Test
	void i10ReleasedLockIsBusy() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.attempt(1, 0, 1000).waiting(0).then(1001, Event.REFUSED);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10RefusedCallsOfTwoProcessesAreNoReasonForEachOther() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.attempt(1, 0, 1000).waiting(0).then(1002, Event.REFUSED);
		this.run.attempt(2, 0, 1001).waiting(0).then(1003, Event.REFUSED);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10RefusedCallOverlapsHold() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 1000, 1, 1090).released(1005);
		this.run.attempt(1, 0, 1000).waiting(0).then(1001, Event.REFUSED);
		assertBroken();
	}

	@Test
	void i10RefusedCallOverlapsGrantThatIsOnItsWay() {
		this.run.attempt(0, 0, 100).waiting(0).then(105, Event.REFUSED);
		this.run.attempt(1, 0, 101).granted(107, 1).held(108, 120, 1, 1090).released(121);
		assertBroken();
	}

	@Test
	void i10RefusedCallIsBehindAnotherOfItsProcessThatAsksTheStore() {
		this.run.attempt(0, 0, 100).waiting(0).then(108, Event.REFUSED);
		this.run.attempt(0, 0, 101).waiting(0).then(102, Event.REFUSED);
		this.run.attempt(1, 0, 103).granted(107, 1).held(108, 120, 1, 1090).released(121);
		assertBroken();
	}

	@Test
	void i10FreeKeyIsNotKeptByCallsThatComeAndGo() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 1000, 1, 1090).released(1001);
		for (int call = 0; call < 20; call++) {
			this.run.attempt(1, 0, 200 + 150 * call).waiting(500).then(700 + 150 * call, Event.REFUSED);
		}
		assertBroken(Invariant.I10);
	}

	/**
	 * Its turn is kept for two polls, and then the key is free.
	 */
	@Test
	void i10CallThatLeftKeepsTheKeyForATurnOnly() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 1280, 1, 1300).released(1285);
		this.run.attempt(1, 0, 1000).waiting(300).then(1300, Event.REFUSED);
		this.run.attempt(2, 0, 1310).waiting(700).then(2010, Event.REFUSED);
		assertBroken(Invariant.I10);
	}

	/**
	 * A process that stands still renews nothing.
	 */
	@Test
	void i7LockThatIsLostInAPauseIsFreeAfterItsLease() {
		this.run.fault(200, 5000, "F1", "client-0");
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 190, 1, 1090)
			.then(5001, Event.FOUND_LOST)
			.then(5001, Event.LOST)
			.then(5002, Event.RELEASE_SENT)
			.then(5003, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 300).waiting(4000).then(4300, Event.REFUSED);
		assertThat(this.run.broken()).contains(Invariant.I7);
	}

	@Test
	void i14PrivateKeyIsRefused() {
		this.run.attempt(0, PRIVATE, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.attempt(0, PRIVATE, 1000).waiting(2000).then(3000, Event.REFUSED);
		assertBroken(Invariant.I14);
	}

	@Test
	void i14PrivateKeyIsSlowUnderFaultOfItsOwn() {
		this.run.fault(900, 2000, "F12", "link-0");
		this.run.attempt(0, PRIVATE, 1000).waiting(2000).granted(2050, 1).held(2051, 2060, 1, 3000).released(2061);
		assertBroken();
	}

}
