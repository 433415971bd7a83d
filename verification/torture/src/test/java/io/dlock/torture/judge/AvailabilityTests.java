package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for calls and holders that are served and told in time (I6, I7, I9, I10, I14).
 */
class AvailabilityTests {

	private static final int PRIVATE = Keys.privateKey(0, 0);

	private final RunBuilder run = new RunBuilder();

	@Test
	void i6LossIsKnownLate() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1400, Event.LOST)
			.then(1500, Event.RELEASE_SENT)
			.then(1501, Event.RELEASED_LOST);
		assertBroken(Invariant.I6);
	}

	@Test
	void i6LossIsNeverTold() {
		this.run.attempt(0, 0, 100)
			.renewed()
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1095, Event.FOUND_LOST)
			.then(1500, Event.RELEASE_SENT)
			.then(1501, Event.RELEASED_LOST)
			.and()
			.fault(1000, 1050, "F9", "link-0");
		assertBroken(Invariant.I6);
	}

	@Test
	void i6HolderFindsOutByItselfWithoutAMessage() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 111, 1, 1090)
			.then(1600, Event.FOUND_LOST)
			.then(1601, Event.RELEASE_SENT)
			.then(1602, Event.RELEASED_LOST);
		assertBroken(Invariant.I6);
	}

	@Test
	void i6ListenerIsToldByTheQuestionOfAnotherOnly() {
		unasked(1341);
		assertBroken(Invariant.I6);
	}

	@Test
	void i6ListenerFindsOutAlone() {
		unasked(1100);
		assertBroken();
	}

	private void unasked(long told) {
		this.run.fault(300, 1050, "F12", "link-0");
		this.run.attempt(0, 0, 100)
			.renewed()
			.granted(110, 1)
			.held(111, 1060, 1, 1090)
			.then(told, Event.LOST)
			.foundLost(1340, 1090)
			.then(1500, Event.RELEASE_SENT)
			.then(1501, Event.RELEASED_LOST);
	}

	@Test
	void i6PauseDoesNotCount() {
		this.run.fault(1080, 5000, "F1", "client-0");
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(5001, Event.LOST)
			.then(5002, Event.RELEASE_SENT)
			.then(5003, Event.RELEASED_LOST);
		assertBroken();
	}

	@Test
	void i7OrphanOfUnknownOutcomeOutlivesLease() {
		this.run.fault(100, 300, "F10", "link-0");
		this.run.attempt(0, 0, 100).then(300, Event.UNKNOWN);
		this.run.attempt(1, 0, 500).waiting(2000).then(2500, Event.REFUSED);
		assertBroken(Invariant.I7);
	}

	@Test
	void i7OrphanOfUnknownOutcomeEndsWithLease() {
		this.run.fault(100, 300, "F10", "link-0");
		this.run.attempt(0, 0, 100).then(300, Event.UNKNOWN);
		this.run.attempt(1, 0, 500).granted(1350, 1).held(1351, 1400, 1, 2300).released(1401);
		assertBroken();
	}

	@Test
	void i6LockIsValidThoughTheClockWasSetForward() {
		this.run.clientClockStep(300, 900, 0, 60_000);
		this.run.attempt(0, 0, 100).renewed().granted(110, 1).held(111, 390, 1, 1100).released(391);
		assertBroken();
		this.run.attempt(0, 1, 100).renewed().granted(110, 1).held(111, 450, 1, 1100).released(451);
		assertBroken(Invariant.I6);
	}

	@Test
	void i6LockOfAnotherProcessAndOfALaterTimeIsValid() {
		this.run.clientClockStep(300, 900, 0, 60_000);
		this.run.attempt(1, 0, 100).renewed().granted(110, 1).held(111, 800, 1, 1100).released(801);
		this.run.attempt(0, 1, 305).renewed().granted(310, 1).held(311, 800, 1, 1300).released(801);
		assertBroken();
	}

	@Test
	void i6ProcessThatStandsStillMayMissTheStepOfItsClock() {
		this.run.fault(280, 950, "F1", "client-0");
		this.run.clientClockStep(300, 900, 0, 60_000);
		this.run.attempt(0, 1, 100).lease(20_000).granted(110, 1).held(111, 1100, 1, 20_100).released(1101);
		assertBroken();
	}

	@Test
	void i6StepOfTheClockThatIsShorterThanTheLeaseLosesNothing() {
		this.run.clientClockStep(300, 900, 0, 700);
		this.run.attempt(0, 1, 100).renewed().granted(110, 1).held(111, 800, 1, 1100).released(801);
		assertBroken();
	}

	@Test
	void i7LongLeaseWithoutAHolderIsGivenBack() {
		orphanOfALongLease();
		refusedAt(7100, 7600);
		assertBroken(Invariant.I7);
	}

	@Test
	void i7LongLeaseWithoutAHolderIsNotGivenBackAtOnce() {
		orphanOfALongLease();
		refusedAt(6000, 6600);
		assertBroken();
	}

	@Test
	void i7LongLeaseIsNotGivenBackByAProcessThatHasNoStore() {
		orphanOfALongLease();
		this.run.fault(3000, 4000, "F12", "link-0");
		refusedAt(7100, 7600);
		assertBroken();
	}

	@Test
	void i7LongLeaseIsNotGivenBackByAProcessThatIsKilled() {
		orphanOfALongLease();
		this.run.killed(0, 3000);
		refusedAt(7100, 7600);
		assertBroken();
	}

	@Test
	void i7LongLeaseIsOverByAClockThatIsSetForward() {
		orphanOfALongLease();
		this.run.clientClockStep(500, 600, 0, 60_000);
		refusedAt(7100, 7600);
		assertBroken();
	}

	@Test
	void i7LongLeaseIsGivenBackLaterByAProcessThatStandsStill() {
		orphanOfALongLease();
		this.run.fault(3000, 4000, "F1", "client-0");
		refusedAt(7100, 7600);
		assertBroken();
	}

	@Test
	void i7LongLeaseIsGivenBackInTheTimeInWhichAProcessRuns() {
		orphanOfALongLease();
		this.run.fault(3000, 4000, "F1", "client-0");
		refusedAt(8100, 8600);
		assertBroken(Invariant.I7);
	}

	private void orphanOfALongLease() {
		this.run.fault(100, 300, "F10", "link-0");
		this.run.attempt(0, PRIVATE, 100).lease(20_000).then(300, Event.UNKNOWN);
	}

	private void refusedAt(long from, long to) {
		this.run.attempt(1, PRIVATE, from).waiting(to - from).then(to, Event.REFUSED);
	}

	@Test
	void i9CallTakesTooLong() {
		this.run.fault(0, 50_000, "F5", "store");
		this.run.attempt(0, 0, 100).waiting(500).then(1000, Event.UNKNOWN);
		assertBroken(Invariant.I9);
	}

	@Test
	void timeInWhichTheMachineWasSlowDoesNotCount() {
		this.run.fault(0, 50_000, "F5", "store");
		this.run.slow(400, 700);
		this.run.attempt(0, 0, 100).waiting(500).then(1000, Event.UNKNOWN);
		assertBroken();
	}

	@Test
	void i9CallHangs() {
		this.run.attempt(0, 0, 100).waiting(500);
		assertBroken(Invariant.I9);
	}

	@Test
	void i10CallOfAProcessThatIsStoppedAtOnceIsGrantedToNoHolder() {
		this.run.fault(100, 3000, "F2", "client-0");
		this.run.attempt(0, 0, 105).waiting(0).then(3001, Event.UNKNOWN);
		this.run.attempt(1, 0, 500).waiting(500).then(1000, Event.REFUSED);
		assertBroken();
	}

	@Test
	void i7ThreadThatWaitedForAMomentDoesNotKeepAKeyForALease() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.waited(600, 690, 25).attempt(2, 0, 590).waiting(2000).then(2590, Event.REFUSED);
		this.run.attempt(1, 0, 1000).waiting(550).then(1550, Event.REFUSED);
		assertBroken(Invariant.I7);
	}

	@Test
	void i7ThreadThatWaitedForLongMayKeepAKeyForALease() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.waited(600, 690, 60).attempt(2, 0, 590).waiting(1400).then(1990, Event.REFUSED);
		this.run.attempt(1, 0, 1000).waiting(550).then(1550, Event.REFUSED);
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
	void i9ReleaseTakesTooLong() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 120, 1, 1090)
			.then(130, Event.RELEASE_SENT)
			.then(530, Event.RELEASED);
		assertBroken(Invariant.I9);
	}

	@Test
	void i10ReleasedLockIsBusy() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.attempt(1, 0, 1000).waiting(0).then(1001, Event.REFUSED);
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
	void i10RenewedLockIsLostWithoutReason() {
		this.run.attempt(0, 0, 100)
			.renewed()
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1091, Event.LOST)
			.then(1092, Event.RELEASE_SENT)
			.then(1093, Event.RELEASED_LOST);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10LockIsLostBeforeItsDeadline() {
		lostAt(1087);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10LockIsLostByTheClockThatCountsMilliseconds() {
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
	void i10LossIsNotExcusedByAFaultThatWasOverBeforeItsLastRenewal() {
		this.run.fault(100, 200, "F12", "link-0");
		renewedAndLostAt(2190);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10LossIsExcusedByAFaultInWhichItWasNotRenewed() {
		this.run.fault(900, 1900, "F12", "link-0");
		renewedAndLostAt(2190);
		assertBroken();
	}

	@Test
	void i10LossIsNotExcusedByAHiccupOfTheMachine() {
		this.run.slow(1500, 1640);
		renewedAndLostAt(2190);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10LossIsExcusedByAMachineThatStandsStill() {
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

	@Test
	void i10CallFailsWithoutAReason() {
		this.run.attempt(0, 0, 100).then(353, Event.UNKNOWN);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10CallMayFailBecauseAnotherThreadAskedBefore() {
		this.run.slow(10, 90);
		this.run.attempt(0, 0, 100).then(101, Event.UNKNOWN);
		assertBroken();
	}

	@Test
	void i9InterruptedCallGoesOnWaiting() {
		this.run.attempt(0, 0, 50).granted(60, 1).held(61, 900, 1, 1050).released(901);
		this.run.attempt(1, 1, 100).then(200, Event.INTERRUPT).granted(390, 1).held(391, 392, 1, 1380).released(393);
		assertBroken();
		this.run.attempt(1, 0, 400).then(500, Event.INTERRUPT).granted(905, 2).held(906, 907, 2, 1890).released(908);
		assertBroken(Invariant.I9);
	}

	@Test
	void i9InterruptBeforeACallIsNotForIt() {
		this.run.attempt(0, 0, 50).granted(60, 1).held(61, 900, 1, 1050).released(901);
		this.run.attempt(1, 0, 400).then(350, Event.INTERRUPT).granted(905, 2).held(906, 907, 2, 1890).released(908);
		assertBroken();
	}

	@Test
	void i9InterruptedCallMayWaitForAStoreThatDoesNotAnswer() {
		this.run.fault(450, 700, "F6", "node-0");
		this.run.attempt(1, 0, 400).then(500, Event.INTERRUPT).then(750, Event.INTERRUPTED);
		assertBroken();
	}

	@Test
	void i10CallIsInterruptedWithoutAnInterrupt() {
		this.run.attempt(0, 0, 100).then(110, Event.INTERRUPTED);
		assertBroken(Invariant.I10);
	}

	@Test
	void i10CallIsInterrupted() {
		this.run.attempt(0, 0, 100).then(109, Event.INTERRUPT).then(110, Event.INTERRUPTED);
		assertBroken();
	}

	@Test
	void i10FirstCallIsInterruptedLongAfterItsThreadWas() {
		this.run.attempt(0, 0, 3000).then(100, Event.INTERRUPT).then(3010, Event.INTERRUPTED);
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

	@Test
	void i7HiccupOfAnotherClientDoesNotKeepAKeyForALease() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.fault(600, 625, "F1", "client-2").attempt(2, 0, 590).waiting(2000).then(2590, Event.REFUSED);
		this.run.attempt(1, 0, 1000).waiting(550).then(1550, Event.REFUSED);
		assertBroken(Invariant.I7);
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

	private void assertBroken(Invariant... expected) {
		assertThat(this.run.broken()).containsExactlyInAnyOrder(expected);
	}

}
