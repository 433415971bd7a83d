package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for calls that take too long, fail or are interrupted (I9, I10).
 */
class CallsTests extends AbstractRunTests {

	/**
	 * Ten times the wait time, a command and the slack: it may wait for two seconds.
	 */
	@Test
	void i9CallThatNeverReturnsHangs() {
		this.run.attempt(0, 0, 60_000);
		assertThat(this.run.judge().violations())
			.anyMatch((violation) -> violation.invariant() == Invariant.I9 && violation.text().endsWith(" hangs"));
	}

	/**
	 * A quarter of a command timeout is an excuse.
	 */
	@ParameterizedTest
	@CsvSource({ "120, true", "130, false" })
	void i10CallThatFailsInAShortPauseHasNoReason(long end, boolean broken) {
		this.run.slow(100, end).attempt(0, 0, 100).then(200, Event.UNKNOWN);
		assertThat(this.run.broken().contains(Invariant.I10)).isEqualTo(broken);
	}

	/**
	 * Another thread may have asked before, for a command timeout and the slack.
	 */
	@ParameterizedTest
	@CsvSource({ "1590, false", "1650, true" })
	void i10CallFailsAfterAFaultThatIsOver(long invoked, boolean broken) {
		this.run.fault(500, 1000, "F12", "link-0");
		this.run.attempt(0, 0, invoked).then(invoked + 100, Event.UNKNOWN);
		assertThat(this.run.broken().contains(Invariant.I10)).isEqualTo(broken);
	}

	/**
	 * It may have votes that the others lack.
	 */
	@ParameterizedTest
	@CsvSource({ "REDIS_QUORUM, 140, 0, false", "REDIS_QUORUM, 110, 0, true", "REDIS_QUORUM, 140, 1, true",
			"REDIS, 140, 0, true" })
	void i10CallFailsWhileAnotherCandidateStandsStill(String store, long until, int key, boolean broken) {
		this.run.store(store).fault(100, until, "F1", "client-1");
		this.run.attempt(1, key, 90).then(300, Event.REFUSED);
		this.run.attempt(0, 0, 100).then(200, Event.UNKNOWN);
		assertThat(this.run.broken().contains(Invariant.I10)).isEqualTo(broken);
	}

	@Test
	void i9CallTakesTooLong() {
		this.run.fault(0, 50_000, "F5", "store");
		this.run.attempt(0, 0, 100).waiting(500).then(1000, Event.UNKNOWN);
		assertBroken(Invariant.I9);
	}

	@Test
	void tryWaitsForAReleaseThatHasNoAnswer() {
		this.run.fault(0, 50_000, "F5", "store");
		this.run.attempt(0, 0, 100).waiting(0).then(380, Event.UNKNOWN);
		assertBroken();
		this.run.attempt(0, 0, 1000).waiting(0).then(1350, Event.UNKNOWN);
		assertBroken(Invariant.I9);
	}

	@Test
	void i9TryDoesNotWaitForAReleaseOfAStoreThatAnswers() {
		this.run.attempt(0, 0, 100).waiting(0).granted(380, 1).held(381, 390, 1, 1370).released(391);
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
	void i9ReleaseTakesTooLong() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 120, 1, 1090)
			.then(130, Event.RELEASE_SENT)
			.then(530, Event.RELEASED);
		assertBroken(Invariant.I9);
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

}
