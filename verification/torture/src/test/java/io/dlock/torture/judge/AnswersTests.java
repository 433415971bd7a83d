package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;
import io.dlock.torture.judge.RunBuilder.AttemptBuilder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Answers} (I19), and for the time of nested calls (I9).
 */
class AnswersTests extends AbstractRunTests {

	private int keys;

	@ParameterizedTest
	@CsvSource({ "590, true", "599, false" })
	void i19CallIsToldBusyALittleBeforeItsWaitIsOver(long told, boolean wrong) {
		this.run.attempt(0, 0, 90).granted(95, 1).held(96, 700, 1, 1090).released(701);
		this.run.attempt(1, 0, 100).waiting(500).then(told, Event.REFUSED);
		assertThat(this.run.broken().contains(Invariant.I19)).isEqualTo(wrong);
	}

	@Test
	void i19LockIsReleasedThoughItsHolderHadFoundItLost() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 150, 1, 1100)
			.then(160, Event.FOUND_LOST)
			.then(160, Event.RELEASE_SENT)
			.then(162, Event.RELEASED);
		assertThat(this.run.broken()).contains(Invariant.I19);
	}

	@Test
	void i19CallIsToldBusyBeforeItsWaitIsOver() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 1050, 1, 1090).released(1051);
		this.run.attempt(1, 0, 120).waiting(800).then(521, Event.REFUSED);
		assertBroken(Invariant.I19);
	}

	@Test
	void i19CallIsToldBusyAtOnceThoughItMayWaitAndTheStoreIsDown() {
		this.run.fault(50, 5000, "F5", "store");
		this.run.attempt(0, Keys.privateKey(0, 0), 100).waiting(2000).then(101, Event.REFUSED);
		assertBroken(Invariant.I19);
	}

	@Test
	void i19CallIsToldBusyWhenItsWaitIsOver() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 1050, 1, 1090).released(1051);
		this.run.attempt(1, 0, 120).waiting(800).then(920, Event.REFUSED);
		this.run.attempt(1, 0, 120).waiting(0).then(121, Event.REFUSED);
		assertBroken();
	}

	@Test
	void i19UndocumentedFailure() {
		this.run.attempt(0, 0, 100).then(110, Event.FAILED);
		assertBroken(Invariant.I19);
	}

	@Test
	void i19CallIsRefusedByAShutdownWithoutARequest() {
		this.run.attempt(0, 0, 100).then(110, Event.CLOSED);
		assertBroken(Invariant.I19);
	}

	@Test
	void i19LockThatWasFoundLostIsReleased() {
		this.run.fault(100, 1000, "F12", "link-0");
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1095, Event.LOST)
			.then(1095, Event.FOUND_LOST)
			.released(1100);
		assertBroken(Invariant.I19);
	}

	@Test
	void i19LockWhoseListenerWasToldIsReleased() {
		lostAt(1095).released(1100);
		assertBroken(Invariant.I19);
	}

	@Test
	void i19ReleaseOfALostLockSaysSo() {
		lostAt(1095).then(1100, Event.RELEASE_SENT).then(1101, Event.RELEASED_LOST);
		assertBroken();
	}

	/**
	 * The listener of another handle is told at the same time.
	 */
	@Test
	void i19LossThatIsToldDuringTheReleaseProvesNothing() {
		lostAt(1095).released(1095);
		assertBroken();
	}

	private AttemptBuilder lostAt(long at) {
		this.run.fault(100, 1000, "F12", "link-0");
		return this.run.attempt(0, 0, 100).granted(110, 1).held(111, 1050, 1, 1090).then(at, Event.LOST);
	}

	@Test
	void i19DowngradeWithoutAnAnswerEndsALostLockWithoutAWord() {
		int key = Keys.placeKey(0);
		this.run.fault(100, 1000, "F12", "link-0");
		AttemptBuilder lost = this.run.attempt(0, key, 100).granted(110, 1).held(111, 1050, 1, 1090);
		lost.then(1095, Event.LOST).released(1100);
		assertBroken(Invariant.I19);
		this.run.attempt(0, key, 1100).downgrade(lost).then(1101, Event.UNKNOWN);
		assertBroken();
	}

	@Test
	void i19LockCannotBeReleased() {
		this.run.fault(100, 1000, "F12", "link-0");
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 120, 1, 1090)
			.then(130, Event.RELEASE_SENT)
			.then(140, Event.RELEASE_FAILED);
		assertBroken(Invariant.I19);
	}

	@Test
	void i19HolderIsNotGrantedItsLockAgain() {
		held().nested(120, Event.NESTED_REFUSED, 0, 5).released(201);
		assertBroken(Invariant.I19);
	}

	@Test
	void i9HolderWaitsForItself() {
		held().nested(190, Event.NESTED, 1, 50).released(201);
		assertBroken();
		held().nested(190, Event.NESTED, 1, 150).released(201);
		assertBroken(Invariant.I9);
	}

	@Test
	void i9NestedCallOfAProcessThatStandsStill() {
		this.run.fault(130, 180, "F1", "client-0");
		held().nested(240, Event.NESTED, 1, 120).released(241);
		assertBroken();
	}

	@Test
	void i19AssertionContradictsTheQuestion() {
		held().then(150, Event.CONTRADICTED).released(201);
		assertBroken(Invariant.I19);
	}

	private AttemptBuilder held() {
		return this.run.attempt(0, this.keys++, 100).granted(110, 1).held(111, 200, 1, 1100);
	}

}
