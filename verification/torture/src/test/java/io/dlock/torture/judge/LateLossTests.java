package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.torture.history.Event;

/**
 * Tests for losses that holders are told of late (I6).
 */
class LateLossTests extends AbstractRunTests {

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

	@ParameterizedTest
	@CsvSource({ "1180, false", "1200, true" })
	void i6LossIsKnownLaterThanTheMachineMayBe(long known, boolean late) {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(known, Event.LOST)
			.then(1500, Event.RELEASE_SENT)
			.then(1501, Event.RELEASED_LOST);
		assertBroken(late ? new Invariant[] { Invariant.I6 } : new Invariant[0]);
	}

	@Test
	void i6HolderThatWasToldLooksLaterOnce() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1100, Event.LOST)
			.then(1400, Event.FOUND_LOST)
			.then(1500, Event.RELEASE_SENT)
			.then(1501, Event.RELEASED_LOST);
		assertBroken();
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

}
