package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FalseBusy} (I10).
 */
class FalseBusyTests {

	private final RunBuilder run = new RunBuilder();

	private final int key = Keys.polledKey(0);

	@Test
	void i10TryIsRefusedThoughNoClientHasTheKey() {
		this.run.attempt(0, this.key, 100).waiting(0).granted(101, 1).held(101, 110, 1, 1100).released(111);
		this.run.attempt(1, this.key, 115).waiting(0).then(116, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10TryIsRefusedByAHolder() {
		this.run.attempt(0, this.key, 100).waiting(0).granted(101, 1).held(101, 110, 1, 1100).released(111);
		this.run.attempt(1, this.key, 112).waiting(0).then(116, Event.REFUSED);
		this.run.attempt(1, this.key, 98).waiting(0).then(102, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
	}

	/**
	 * A pool waits for longer than a command, but a release that finds no place among the
	 * connections gives up after a command, and is repeated in the background.
	 */
	@Test
	void i10TryMayBeRefusedByALockWhoseReleaseFoundNoPlace() {
		this.run.commandTimeout(250);
		this.run.attempt(0, this.key, 100)
			.waiting(0)
			.granted(101, 1)
			.held(101, 110, 1, 1100)
			.then(110, Event.RELEASE_SENT)
			.then(214, Event.RELEASED);
		this.run.attempt(1, this.key, 230).waiting(0).then(231, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i10TryIsRefusedAfterAReleaseThatWasAnswered() {
		this.run.commandTimeout(250);
		this.run.attempt(0, this.key, 100)
			.waiting(0)
			.granted(101, 1)
			.held(101, 110, 1, 1100)
			.then(110, Event.RELEASE_SENT)
			.then(155, Event.RELEASED);
		this.run.attempt(1, this.key, 165).waiting(0).then(166, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	/**
	 * The end of the stop was noted 18 ms after the client ran again (seed 9914).
	 */
	@Test
	void i10TryMayBeRefusedByACallThatWasSentWhenItsClientWasStopped() {
		this.run.fault(100, 1330, "F1", "client-1");
		this.run.attempt(1, this.key, 110).waiting(0).then(1320, Event.REFUSED);
		this.run.attempt(0, this.key, 700).waiting(0).then(702, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i10CallThatWasAnsweredBeforeItsClientWasStoppedIsNoReason() {
		this.run.fault(100, 1330, "F1", "client-1");
		this.run.attempt(1, this.key, 101).waiting(0).then(103, Event.REFUSED);
		this.run.attempt(0, this.key, 700).waiting(0).then(702, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	/**
	 * It may have taken the lock itself.
	 */
	@Test
	void i10TryDuringAFaultOfTheStoreIsNotJudged() {
		this.run.fault(100, 200, "F9", "links");
		this.run.attempt(1, this.key, 150).waiting(0).then(152, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
		assertThat(this.run.judge().coverage().get(Invariant.I10).judged()).isZero();
	}

	@Test
	void i10AnotherTryThatIsRefusedIsNoReason() {
		this.run.attempt(0, this.key, 100).waiting(0).then(110, Event.REFUSED);
		this.run.attempt(0, this.key, 101).waiting(0).then(109, Event.REFUSED);
		assertThat(this.run.judge().counts().get(Invariant.I10)).isEqualTo(2);
	}

	@Test
	void i10AnswerToAnotherThreadMayBeTheAnswerToBoth() {
		this.run.attempt(0, this.key, 100).waiting(0).granted(101, 1).held(101, 110, 1, 1100).released(111);
		this.run.attempt(1, this.key, 112).waiting(0).then(120, Event.REFUSED);
		this.run.attempt(1, this.key, 116).waiting(0).then(119, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(2, this.key, 116).waiting(0).then(119, Event.REFUSED);
		assertThat(this.run.judge().counts().get(Invariant.I10)).isOne();
	}

	@Test
	void i10TryMayBeRefusedByTheLockOfAnUnknownCall() {
		this.run.slow(10, 190);
		this.run.attempt(0, this.key, 100).waiting(0).then(200, Event.UNKNOWN);
		this.run.attempt(1, this.key, 1150).waiting(0).then(1151, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(1, this.key, 1250).waiting(0).then(1251, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10RequestOfAnUnknownCallWaitsForASlowMachine() {
		this.run.slow(150, 260);
		this.run.attempt(0, this.key, 100).waiting(0).then(200, Event.UNKNOWN);
		this.run.attempt(1, this.key, 1250).waiting(0).then(1255, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(1, this.key, 1280).waiting(0).then(1285, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10TryMayBeRefusedByTheLockOfADeadProcess() {
		this.run.killed(0, 500).attempt(0, this.key, 100).waiting(0).granted(101, 1).held(101, 490, 1, 1100);
		this.run.attempt(1, this.key, 1450).waiting(0).then(1451, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(1, this.key, 1550).waiting(0).then(1551, Event.REFUSED);
		assertThat(this.run.broken()).isNotEmpty();
	}

	/**
	 * Its last request was in the proxy when it was killed.
	 */
	@Test
	void i10LastRequestOfADeadProcessTakesAMoment() {
		this.run.killed(0, 500).attempt(0, this.key, 480).waiting(0);
		this.run.attempt(1, this.key, 1520).waiting(0).then(1521, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(1, this.key, 1530).waiting(0).then(1531, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

	@Test
	void i10LastRequestOfADeadProcessWaitsForASlowMachine() {
		this.run.slow(510, 600).killed(0, 500).attempt(0, this.key, 480).waiting(0);
		this.run.attempt(1, this.key, 1590).waiting(0).then(1591, Event.REFUSED);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(1, this.key, 1610).waiting(0).then(1611, Event.REFUSED);
		assertThat(this.run.broken()).containsExactly(Invariant.I10);
	}

}
