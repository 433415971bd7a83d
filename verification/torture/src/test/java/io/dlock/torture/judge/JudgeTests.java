package io.dlock.torture.judge;

import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Judge}, with histories made up for each invariant.
 */
class JudgeTests {

	private static final int PRIVATE = Keys.privateKey(0, 0);

	private final RunBuilder run = new RunBuilder();

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
	void i1ValidHoldsOverlap() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.attempt(1, 0, 120).granted(150, 2).held(151, 250, 2, 1110).released(251);
		assertBroken(Invariant.I1, Invariant.I12);
	}

	@Test
	void i1HoldThatWasCheckedOnceOverlaps() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 300).released(201);
		this.run.attempt(1, 0, 120).granted(150, 2).held(152, 151, 2, 1110).released(153);
		assertBroken(Invariant.I1, Invariant.I12);
	}

	@Test
	void i1HoldsOfOtherKeysOverlap() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.attempt(1, 1, 120).granted(130, 1).held(131, 250, 1, 1110).released(251);
		assertBroken();
	}

	@Test
	void i1HolderThatIsPausedAndDoesNotSayItIsValidIsNoViolation() {
		this.run.fault(200, 3000, "F1", "client-0");
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 190, 1, 1100)
			.then(3001, Event.FOUND_LOST)
			.then(3001, Event.LOST)
			.then(3002, Event.RELEASE_SENT)
			.then(3003, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 120).granted(1150, 2).held(1151, 1200, 2, 2110).released(1201);
		assertBroken();
	}

	@Test
	void i1HolderThatIsFencedOutAndStillValid() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 200, 1, 1100)
			.then(150, Event.FENCED_REJECTED, 1)
			.released(201);
		assertBroken(Invariant.I1);
	}

	@Test
	void i2StaleWriteTaken() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.resource(120, 0, Event.FENCED_WRITE, 2, 1).resource(130, 0, Event.FENCED_WRITE, 1, 2);
		assertBroken(Invariant.I2);
	}

	@Test
	void i2FreshTokenRejected() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.resource(120, 0, Event.FENCED_WRITE, 1, 1).resource(130, 0, Event.FENCED_REJECTED, 2, 1);
		assertBroken(Invariant.I2);
	}

	@Test
	void i3TokenDoesNotRise() {
		this.run.attempt(0, 0, 100).granted(110, 5).held(111, 150, 5, 1100).released(151);
		this.run.attempt(1, 0, 160).granted(170, 4).held(171, 200, 4, 1160).released(201);
		assertThat(broken()).contains(Invariant.I3);
	}

	@Test
	void i3CallsThatOverlapMayBeGrantedInAnyOrder() {
		this.run.attempt(0, 0, 100).granted(170, 1).then(171, Event.FOUND_LOST).released(172);
		this.run.attempt(1, 0, 110).granted(160, 2).held(161, 165, 2, 1160).released(166);
		assertThat(broken()).doesNotContain(Invariant.I1, Invariant.I3);
	}

	@Test
	void i4TwoHoldsShareToken() {
		this.run.attempt(0, 0, 100).granted(120, 5).held(121, 150, 5, 1100).released(151);
		this.run.attempt(1, 0, 110).granted(170, 5).held(171, 200, 5, 1160).released(201);
		assertBroken(Invariant.I4);
	}

	@Test
	void i4NestedHoldHasAnotherToken() {
		this.run.attempt(0, 0, 100).granted(120, 5).held(121, 150, 5, 1100).then(130, Event.NESTED, 6).released(151);
		assertBroken(Invariant.I4);
	}

	@Test
	void i5FencedUpdateIsOverwritten() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.resource(120, 0, Event.FENCED_WRITE, 1, 1).resource(130, 1, Event.FENCED_WRITE, 2, 1);
		assertBroken(Invariant.I5);
	}

	@Test
	void i5AcknowledgedUpdateIsMissing() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 200, 1, 1100)
			.then(120, Event.FENCED_WRITE, 1)
			.released(201);
		assertBroken(Invariant.I5);
	}

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
	void i6HolderFindsOutByItselfWhatNobodyTold() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 111, 1, 1090)
			.then(1600, Event.FOUND_LOST)
			.then(1601, Event.RELEASE_SENT)
			.then(1602, Event.RELEASED_LOST);
		assertBroken(Invariant.I6);
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
	void i8LockOfDeadHolderIsNotRecovered() {
		this.run.killed(0, 200).attempt(0, 0, 100).granted(110, 1).held(111, 190, 1, 1090);
		this.run.attempt(1, 0, 150).granted(2140, 2).held(2141, 2150, 2, 3000).released(2151);
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I8)).isEqualTo(1);
		assertThat(verdict.figures().afterDeath().max()).isEqualTo(940);
		assertThat(verdict.isClean()).isTrue();
	}

	@Test
	void i8StoreIsHealedButNothingIsGranted() {
		this.run.fault(1000, 2000, "F5", "store");
		this.run.attempt(0, 0, 1500).waiting(3000).granted(3000, 1).held(3001, 3010, 1, 3900).released(3011);
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I8)).isEqualTo(1);
		assertThat(verdict.figures().afterHeal().max()).isEqualTo(1000);
	}

	@Test
	void i9CallTakesTooLong() {
		this.run.fault(0, 50_000, "F5", "store");
		this.run.attempt(0, 0, 100).waiting(500).then(1000, Event.UNKNOWN);
		assertBroken(Invariant.I9);
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
	void i10UndocumentedFailure() {
		this.run.attempt(0, 0, 100).then(110, Event.FAILED);
		assertBroken(Invariant.I10);
	}

	@Test
	void i11LeakOfClientAndCheckOfBed() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 120, 1, 1090).released(130).check("I11", "rows");
		assertBroken(Invariant.I11);
		assertThat(Leaks.of("BASELINE {\"idle\":{\"threads\":[],\"objects\":{\"io.dlock.engine.Hold\":17}},"
				+ "\"closed\":{\"threads\":[\"dlock-timer-1\"],\"objects\":{\"io.dlock.engine.Hold\":2}}}"))
			.extracting(Run.Check::text)
			.containsExactly("17 io.dlock.engine.Hold when idle", "thread dlock-timer-1 when closed");
	}

	@Test
	void i12DeadHolderIsNotGivenItsTime() {
		this.run.killed(0, 200).attempt(0, 0, 100).granted(110, 1).held(111, 190, 1, 1090);
		this.run.attempt(1, 0, 150).granted(700, 2).held(701, 710, 2, 1600).released(711);
		assertBroken(Invariant.I12);
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

	private void assertBroken(Invariant... expected) {
		assertThat(broken()).containsExactlyInAnyOrder(expected);
	}

	private List<Invariant> broken() {
		Verdict verdict = this.run.judge();
		return Arrays.stream(Invariant.values()).filter((invariant) -> verdict.counts().get(invariant) > 0).toList();
	}

}
