package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

/**
 * Tests for locks without a holder that outlive their lease (I7).
 */
class OrphanTests extends AbstractRunTests {

	private static final int PRIVATE = Keys.privateKey(0, 0);

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

	@Test
	void i7HiccupOfAnotherClientDoesNotKeepAKeyForALease() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130);
		this.run.fault(600, 625, "F1", "client-2").attempt(2, 0, 590).waiting(2000).then(2590, Event.REFUSED);
		this.run.attempt(1, 0, 1000).waiting(550).then(1550, Event.REFUSED);
		assertBroken(Invariant.I7);
	}

}
