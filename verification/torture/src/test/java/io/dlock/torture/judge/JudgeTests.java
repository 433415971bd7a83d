package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Judge}: the verdict on a run as a whole.
 */
class JudgeTests extends AbstractRunTests {

	@Test
	void cleanRunIsCleanButProvesNothing() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 150, 1, 1100).released(151);
		this.run.attempt(1, 0, 120).granted(160, 2).held(161, 200, 2, 1110).released(201);
		this.run.resource(115, 0, Event.FENCED_WRITE, 1, 1).resource(165, 1, Event.FENCED_WRITE, 2, 2);
		Verdict verdict = this.run.judge();
		assertThat(verdict.isClean()).isTrue();
		assertThat(verdict.isValid()).isFalse();
		assertThat(verdict.vacuous()).contains("no lock was lost", "no write was rejected");
		assertThat(verdict.violations()).isEmpty();
	}

	@Test
	void i11LeakOfClientAndCheckOfBed() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130).check("I11", "rows");
		assertBroken(Invariant.I11);
	}

	@Test
	void lossyRunOnlyCountsOverlaps() {
		this.run.fault(105, 106, "F14", "store");
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.attempt(1, 0, 120).granted(150, 2).held(151, 250, 2, 1110).released(251);
		Verdict verdict = this.run.judge();
		assertThat(verdict.lossy()).isTrue();
		assertThat(verdict.counts().get(Invariant.I1)).isEqualTo(1);
		assertThat(verdict.isClean()).isTrue();
	}

	@Test
	void runInWhichEverythingHappenedIsValid() {
		this.run.fault(100, 300, "F1", "client-0").fault(100, 300, "F10", "link-1");
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1091, Event.LOST)
			.then(1092, Event.RELEASE_SENT)
			.then(1093, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 1000).granted(1150, 2).held(1151, 1160, 2, 2000).released(1161);
		this.run.attempt(1, 1, 100).then(300, Event.UNKNOWN);
		this.run.resource(1155, 1, Event.FENCED_WRITE, 2, 1).resource(1156, 0, Event.FENCED_REJECTED, 1, 1);
		Verdict verdict = this.run.judge();
		assertThat(verdict.vacuous()).isEmpty();
		assertThat(verdict.isClean()).isTrue();
		assertThat(verdict.figures().takeOvers()).isEqualTo(1);
		assertThat(verdict.figures().cyclesUnderFault()).isEqualTo(1);
	}

	@Test
	void runWithoutAnInterruptOrSharedLocksProvesNothing() {
		provesSomething().option("threads", "4").option("places", "2").option("transfers", "1");
		assertThat(this.run.judge().vacuous()).containsExactly("no call was interrupted",
				"no lock was shared by two processes at a time", "no permits reached their limit");
		assertThat(this.run.judge().unproven()).containsExactly("fewer than 20 calls of the kind 'set' were granted",
				"I17: 0 judged, at least 100 have to be");
		this.run.attempt(0, 0, 5000).then(5010, Event.INTERRUPT).then(5020, Event.INTERRUPTED);
		place(0, 0, Integer.MAX_VALUE, 5000);
		place(1, 0, Integer.MAX_VALUE, 5001);
		place(0, Keys.PLACES - 1, 2, 5000);
		place(1, Keys.PLACES - 1, 2, 5001);
		assertThat(this.run.judge().vacuous()).isEmpty();
	}

	@Test
	void readersOfOneProcessAndPermitsBelowTheirLimitProveNothing() {
		provesSomething().option("places", "2");
		place(0, 0, Integer.MAX_VALUE, 5000);
		place(0, 0, Integer.MAX_VALUE, 5001);
		place(0, Keys.PLACES - 1, 3, 5000);
		place(1, Keys.PLACES - 1, 3, 5001);
		assertThat(this.run.judge().vacuous()).containsExactly("no lock was shared by two processes at a time",
				"no permits reached their limit");
	}

	@Test
	void runWithFewCallsOfAKindProvesNothing() {
		provesSomething().option("kept", "10").option("pollers", "1").option("futures", "0");
		for (int call = 0; call < 20; call++) {
			this.run.attempt(0, Keys.keptKey(call), 5000).granted(5010, 100).held(5011, 5020, 100, 6000).released(5021);
		}
		Verdict verdict = this.run.judge();
		assertThat(verdict.unproven()).containsExactly("fewer than 20 calls of the kind 'try' were granted");
		assertThat(verdict.figures().kinds().get("kept")).hasToString("20 granted, 0 refused, 0 lost");
	}

	private void place(int client, int number, int places, long at) {
		this.run.attempt(client, Keys.placeKey(number), at)
			.places(places)
			.granted(at + 1, at)
			.held(at + 2, at + 10, at, at + 990)
			.released(at + 11);
	}

	@Test
	void runWithMissingDataProvesNothing() {
		provesSomething().missing("there is no checks.txt");
		Verdict verdict = this.run.judge();
		assertThat(verdict.unproven()).containsExactly("there is no checks.txt");
		assertThat(verdict.isValid()).isFalse();
		assertThat(verdict.word()).isEqualTo("INVALID");
		assertThat(verdict.exitCode()).isEqualTo(2);
	}

	@Test
	void runThatIsBrokenIsBrokenAlthoughDataAreMissing() {
		Verdict verdict = this.run.missing("there is no checks.txt").check("I11", "rows").judge();
		assertThat(verdict.isValid()).isFalse();
		assertThat(verdict.word()).isEqualTo("BROKEN");
		assertThat(verdict.exitCode()).isEqualTo(1);
	}

	@Test
	void excusedCasesAreAPartOfAllCases() {
		assertThat(new Coverage(3, 1).excusedShare()).isEqualTo(0.25);
		assertThat(new Coverage(3, 1).plus(new Coverage(1, 5)).excusedShare()).isEqualTo(0.6);
		assertThat(new Coverage(3, 0).excusedShare()).isZero();
	}

	@Test
	void runThatProvesSomethingIsClean() {
		Verdict verdict = provesSomething().judge();
		assertThat(verdict.unproven()).isEmpty();
		assertThat(verdict.word()).isEqualTo("CLEAN");
		assertThat(verdict.exitCode()).isZero();
		assertThat(this.run.check("I11", "rows").judge().exitCode()).isEqualTo(1);
	}

	@Test
	void runInWhichTooMuchIsExcusedProvesNothing() {
		provesSomething().fault(3000, 90_000, "F12", "links");
		for (int call = 0; call < 500; call++) {
			this.run.attempt(0, 2, 5000 + call * 20)
				.granted(5001 + call * 20, 100 + call)
				.held(5002 + call * 20, 5003 + call * 20, 100 + call, 5990 + call * 20)
				.released(5004 + call * 20);
		}
		Verdict verdict = this.run.judge();
		assertThat(verdict.coverage().get(Invariant.I20).excused()).isGreaterThan(400);
		assertThat(verdict.unproven()).anyMatch((reason) -> reason.startsWith("I20: "));
		assertThat(verdict.exitCode()).isEqualTo(2);
	}

	@Test
	void runOnAMachineThatWasSlowAllTheTimeProvesNothing() {
		Verdict verdict = provesSomething().slow(90, 3000).judge();
		assertThat(verdict.isClean()).isTrue();
		assertThat(verdict.unproven()).anyMatch((reason) -> reason.startsWith("the machine was slow for"));
	}

	@Test
	void locksThatAreLostToTheMachineProveNothingIfTheyAreMany() {
		provesSomething().slow(21_000, 21_900);
		for (int lock = 0; lock < 10; lock++) {
			this.run.trouble(22_000, 22_000, Event.LOST);
		}
		Verdict verdict = this.run.judge();
		assertThat(verdict.isClean()).isTrue();
		assertThat(verdict.unproven()).containsExactly("10 locks were lost for no reason but a slow machine, of 1");
	}

	@ParameterizedTest
	@CsvSource({ "5, true", "6, false" })
	void fewLocksMayBeLostToTheMachine(int locks, boolean valid) {
		provesSomething().slow(21_000, 21_900);
		for (int lock = 0; lock < locks; lock++) {
			this.run.trouble(22_000, 22_000, Event.LOST);
		}
		assertThat(this.run.judge().isValid()).isEqualTo(valid);
	}

	@Test
	void briefRunHasToJudgeANumberOfCasesHoweverManyAreExcused() {
		judgesMuch(600).brief().slow(15_000, 90_000).fault(15_000, 90_000, "F12", "links");
		for (int call = 0; call < 3000; call++) {
			long at = 16_000 + call * 20;
			this.run.attempt(0, 3, at)
				.granted(at + 1, 10_000 + call)
				.held(at + 2, at + 3, 10_000 + call, at + 990)
				.released(at + 4);
		}
		Verdict verdict = this.run.judge();
		assertThat(verdict.coverage().get(Invariant.I20).excusedShare()).isGreaterThan(0.75);
		assertThat(verdict.unproven())
			.noneMatch((reason) -> reason.startsWith("I20") || reason.startsWith("the machine"));
	}

	/**
	 * A loss that is told late because the process stood still.
	 */
	@Test
	void briefRunMayExcuseFewOfTheInvariantsThatAreJudgedAlmostAlways() {
		provesSomething().brief().fault(6000, 9000, "F1", "client-0");
		this.run.attempt(0, 1, 5900)
			.granted(5910, 50)
			.held(5911, 5990, 50, 6890)
			.then(9001, Event.LOST)
			.then(9002, Event.RELEASE_SENT)
			.then(9003, Event.RELEASED_LOST);
		Verdict verdict = this.run.judge();
		assertThat(verdict.coverage().get(Invariant.I6)).isEqualTo(new Coverage(1, 1));
		assertThat(verdict.unproven()).contains("I6: 50 % excused, at most 10 % may be");
	}

	@Test
	void briefRunThatJudgesTooLittleProvesNothing() {
		Verdict verdict = provesSomething().brief().judge();
		assertThat(verdict.isClean()).isTrue();
		assertThat(verdict.unproven()).contains("I6: 1 judged, at least 20 have to be",
				"I14: 20 judged, at least 100 have to be", "I7: 22 judged with I14, at least 500 have to be");
		assertThat(verdict.line()).startsWith("INVALID (").contains("I6: 1 judged");
		this.run.attempt(0, 0, 60_000).granted(60_001, 900).held(60_002, 60_100, 900, 61_000).released(60_101);
		this.run.attempt(1, 0, 60_000).granted(60_001, 901).held(60_002, 60_100, 901, 61_000).released(60_101);
		assertThat(this.run.judge().line()).startsWith("BROKEN (");
	}

	/**
	 * Tries that are told rightly that a key is held.
	 */
	private void refusedTries(int tries, long at) {
		this.run.attempt(1, Keys.polledKey(0), at)
			.waiting(0)
			.granted(at + 1, 9)
			.held(at + 2, at + 10, 9, at + 990)
			.released(at + 11);
		for (int i = 0; i < tries; i++) {
			this.run.attempt(0, Keys.polledKey(0), at + 5).waiting(0).then(at + 6, Event.REFUSED);
		}
	}

	private RunBuilder judgesMuch(int calls) {
		refusedTries(calls, 3400);
		for (int call = 0; call < calls; call++) {
			long at = 3500 + call * 15;
			this.run.attempt(1, Keys.privateKey(1, 0), at)
				.granted(at + 1, 10 + call)
				.held(at + 2, at + 3, 10 + call, at + 990)
				.released(at + 4);
		}
		return this.run;
	}

	private RunBuilder provesSomething() {
		this.run.fault(100, 300, "F1", "client-0").fault(100, 300, "F10", "link-1");
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 1050, 1, 1090)
			.then(1091, Event.LOST)
			.then(1092, Event.RELEASE_SENT)
			.then(1093, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 1000).granted(1150, 2).held(1151, 1160, 2, 2000).released(1161);
		this.run.attempt(1, 1, 100).then(300, Event.UNKNOWN);
		refusedTries(5, 3400);
		for (int call = 0; call < 20; call++) {
			long at = 3500 + call * 20;
			this.run.attempt(1, Keys.privateKey(1, 0), at)
				.granted(at + 1, 10 + call)
				.held(at + 2, at + 3, 10 + call, at + 990)
				.released(at + 4);
		}
		return this.run.resource(1155, 1, Event.FENCED_WRITE, 2, 1)
			.resource(1156, 0, Event.FENCED_REJECTED, 1, 1)
			.fine("I11");
	}

}
