package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.history.Event;
import io.dlock.torture.judge.RunBuilder.AttemptBuilder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what locks are there for (I1 to I5, I12), with a history made up for each
 * accusation, and for what looks like one.
 */
class SafetyTests {

	private final RunBuilder run = new RunBuilder();

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
	void i12LeaseOfAHolderThatWasToldOfItsLossTooLateCounts() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 190, 1, 1090)
			.then(1095, Event.LOST)
			.then(1096, Event.RELEASE_SENT)
			.then(1097, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 140).granted(700, 2).held(701, 710, 2, 1600).released(711);
		assertThat(this.run.broken()).contains(Invariant.I12);
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
	void i1HolderIsFencedOutAgainAfterItsLastCheck() {
		this.run.attempt(0, 0, 100)
			.granted(110, 1)
			.held(111, 200, 1, 1100)
			.then(150, Event.FENCED_REJECTED, 1)
			.then(250, Event.FENCED_REJECTED, 1)
			.released(251);
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
	void i2HighestTokenRejectedWhenItIsUsedAgain() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.resource(120, 0, Event.FENCED_WRITE, 1, 1).resource(130, 0, Event.FENCED_REJECTED, 1, 1);
		assertBroken(Invariant.I2);
	}

	@Test
	void i3TokenDoesNotRise() {
		this.run.attempt(0, 0, 100).granted(110, 5).held(111, 150, 5, 1100).released(151);
		this.run.attempt(1, 0, 160).granted(170, 4).held(171, 200, 4, 1160).released(201);
		assertThat(this.run.broken()).contains(Invariant.I3);
	}

	@Test
	void i3TokenStaysTheSame() {
		this.run.attempt(0, 0, 100).granted(110, 5).held(111, 150, 5, 1100).released(151);
		this.run.attempt(1, 0, 160).granted(170, 5).held(171, 200, 5, 1160).released(201);
		assertThat(this.run.broken()).contains(Invariant.I3);
	}

	/**
	 * The order of the first two is not known.
	 */
	@Test
	void i3TokenIsBelowTheHighestAndAboveTheLast() {
		overlapping(0, 100, 160, 10);
		overlapping(1, 110, 170, 4);
		this.run.attempt(1, 0, 200).granted(210, 7).held(211, 220, 7, 1200).released(221);
		assertThat(this.run.broken()).contains(Invariant.I3);
	}

	private void overlapping(int client, long invoked, long granted, long token) {
		this.run.attempt(client, 0, invoked)
			.granted(granted, token)
			.then(granted + 1, Event.FOUND_LOST)
			.then(granted + 2, Event.RELEASE_SENT)
			.then(granted + 3, Event.RELEASED_LOST);
	}

	@Test
	void i3CallsThatOverlapMayBeGrantedInAnyOrder() {
		this.run.attempt(0, 0, 100)
			.granted(170, 1)
			.then(171, Event.FOUND_LOST)
			.then(172, Event.RELEASE_SENT)
			.then(173, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 110).granted(160, 2).held(161, 165, 2, 1160).released(166);
		assertThat(this.run.broken()).doesNotContain(Invariant.I1, Invariant.I3);
	}

	@Test
	void i3LostLockIsPassedOnWithLowerTokens() {
		passedOnAfterLoss();
		assertThat(this.run.fault(105, 106, "F14", "store").broken()).doesNotContain(Invariant.I3);
	}

	@Test
	void i3LockIsPassedOnWithLowerTokensThoughNothingWasLost() {
		passedOnAfterLoss();
		assertThat(this.run.broken()).contains(Invariant.I3);
	}

	private void passedOnAfterLoss() {
		this.run.tokensPerLease(10);
		this.run.attempt(0, 0, 100)
			.granted(102, 50)
			.then(103, Event.FOUND_LOST)
			.then(108, Event.RELEASE_SENT)
			.then(110, Event.RELEASED_LOST);
		this.run.attempt(1, 0, 100).granted(110, 60).held(111, 112, 60, 1100).released(113);
		this.run.attempt(0, 0, 111)
			.granted(114, 51)
			.then(115, Event.FOUND_LOST)
			.then(116, Event.RELEASE_SENT)
			.then(117, Event.RELEASED_LOST);
	}

	@Test
	void i3StoreThatHasLostDataGrantsLowerToken() {
		this.run.tokensPerLease(10).fault(105, 106, "F14", "store");
		this.run.attempt(0, 0, 100).granted(102, 60).held(103, 104, 60, 1100).released(105);
		this.run.attempt(1, 0, 110).granted(112, 50).held(113, 114, 50, 1110).released(115);
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I3)).isEqualTo(1);
		assertThat(verdict.isClean()).isFalse();
	}

	@Test
	void i3TokensOfOneLeaseDoNotRise() {
		this.run.tokensPerLease(10).fault(1, 2, "F14", "store");
		this.run.attempt(0, 0, 100).granted(102, 52).held(103, 104, 52, 1100).released(105);
		this.run.attempt(0, 0, 110).granted(112, 51).held(113, 114, 51, 1110).released(115);
		assertThat(this.run.broken()).contains(Invariant.I3);
	}

	@Test
	void i3LowerTokenAfterClockOfStoreWasSetBackIsExcused() {
		this.run.tokensPerLease(10).clockStep(50, 90, 3600).fault(105, 106, "F14", "store");
		this.run.attempt(0, 0, 60).granted(62, 60).held(63, 64, 60, 1000).released(65);
		this.run.attempt(1, 0, 110).granted(112, 50).held(113, 114, 50, 1110).released(115);
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I3)).isZero();
		assertThat(verdict.coverage().get(Invariant.I3).excused()).isEqualTo(1);
	}

	@Test
	void i3LowerTokenBeforeClockOfStoreWasSetBackIsNotExcused() {
		this.run.tokensPerLease(10).fault(105, 106, "F14", "store").clockStep(107, 500, 3600);
		this.run.attempt(0, 0, 60).granted(62, 60).held(63, 64, 60, 1000).released(65);
		this.run.attempt(1, 0, 110).granted(112, 50).held(113, 114, 50, 1110).released(115);
		assertThat(this.run.judge().counts().get(Invariant.I3)).isEqualTo(1);
	}

	@Test
	void i3LowerTokenOfACallThatHadWaitedBefore() {
		this.run.tokensPerLease(10).fault(1, 2, "F14", "store");
		this.run.attempt(0, 0, 100).granted(110, 60, 1100).held(111, 112, 60, 1100).released(113);
		this.run.attempt(1, 0, 105).granted(200, 50, 1190).held(201, 202, 50, 1190).released(203);
		assertThat(this.run.judge().counts().get(Invariant.I3)).isEqualTo(1);
	}

	@Test
	void i3LowerTokenOfARequestThatWasOnItsWayBefore() {
		this.run.tokensPerLease(10).fault(1, 2, "F14", "store");
		this.run.attempt(0, 0, 100).granted(110, 60, 1100).held(111, 112, 60, 1100).released(113);
		this.run.attempt(1, 0, 90).granted(200, 50, 1109).held(201, 202, 50, 1109).released(203);
		assertThat(this.run.judge().counts().get(Invariant.I3)).isZero();
	}

	@Test
	void i3LeaseThatWasRenewedInAPauseSaysNothingAboutItsGrant() {
		this.run.tokensPerLease(10).fault(1, 2, "F14", "store").fault(107, 600, "F1", "client-1");
		this.run.attempt(0, 0, 100).granted(110, 60, 1100).held(111, 112, 60, 1100).released(113);
		this.run.attempt(1, 0, 105).renewed().granted(601, 50, 1500).held(602, 603, 50, 1500).released(604);
		assertThat(this.run.judge().counts().get(Invariant.I3)).isZero();
	}

	@Test
	void i3LowerTokenAfterClockOfStoreWasSetBackWithoutALossOfData() {
		this.run.tokensPerLease(10).clockStep(50, 90, 3600);
		this.run.attempt(0, 0, 60).granted(62, 60).held(63, 64, 60, 1000).released(65);
		this.run.attempt(1, 0, 110).granted(112, 50).held(113, 114, 50, 1110).released(115);
		assertThat(this.run.judge().counts().get(Invariant.I3)).isEqualTo(1);
	}

	@Test
	void i3LowerTokenLongAfterTheLossOfData() {
		this.run.tokensPerLease(10).clockStep(50, 90, 3600).fault(105, 106, "F14", "store");
		this.run.attempt(0, 0, 200).granted(202, 60).held(203, 204, 60, 1200).released(205);
		this.run.attempt(1, 0, 210).granted(212, 50).held(213, 214, 50, 1210).released(215);
		assertThat(this.run.judge().counts().get(Invariant.I3)).isEqualTo(1);
	}

	@Test
	void i4TwoProcessesShareLease() {
		this.run.tokensPerLease(10);
		this.run.attempt(0, 0, 100).granted(102, 50).held(103, 104, 50, 1100).released(105);
		this.run.attempt(1, 0, 110).granted(112, 51).held(113, 114, 51, 1110).released(115);
		assertBroken(Invariant.I4);
	}

	@Test
	void i4HoldersOfOneProcessShareLease() {
		this.run.tokensPerLease(10);
		this.run.attempt(0, 0, 100).granted(102, 50).held(103, 104, 50, 1100).released(105);
		this.run.attempt(0, 0, 110).granted(112, 51).held(113, 114, 51, 1110).released(115);
		assertBroken();
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
	void i4HoldShowsAnotherTokenThanItsGrant() {
		this.run.attempt(0, 0, 100).granted(120, 5).held(121, 150, 6, 1100).released(151);
		assertBroken(Invariant.I4);
	}

	@Test
	void i4HolderUsesTheTokenOfALaterHolder() {
		AttemptBuilder holder = this.run.attempt(0, 0, 100).granted(120, 5).held(121, 150, 5, 1100);
		holder.released(151);
		this.run.resource(130, holder, 5, 1);
		assertBroken();
		this.run.resource(140, holder, 6, 2);
		assertBroken(Invariant.I4);
	}

	@Test
	void i4HolderUsesTheTokenOfAnEarlierHolder() {
		AttemptBuilder holder = this.run.attempt(0, 0, 100).granted(120, 5).held(121, 150, 5, 1100);
		holder.released(151);
		this.run.resource(130, holder, 4, 1);
		assertBroken(Invariant.I4);
	}

	@Test
	void i4CallOfAnEarlierProcessHadTheSameNumber() {
		AttemptBuilder holder = this.run.attempt(0, 0, 100).granted(120, 5).held(121, 150, 5, 1100);
		holder.released(151);
		this.run.resource(50, holder, 4, 1);
		assertBroken();
	}

	@Test
	void i5FencedUpdateIsOverwritten() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.resource(120, 0, Event.FENCED_WRITE, 1, 1).resource(130, 1, Event.FENCED_WRITE, 2, 1);
		assertBroken(Invariant.I5);
	}

	@Test
	void i5FencedUpdateIsCountedTwice() {
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 200, 1, 1100).released(201);
		this.run.resource(120, 0, Event.FENCED_WRITE, 1, 1).resource(130, 1, Event.FENCED_WRITE, 2, 3);
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
	void i17TransfersConserveMoney() {
		transfer(120, 40_000, 40_001, -30, 30, 30);
		transfer(130, 40_001, 40_000, 20, -20, 10);
		assertBroken();
	}

	@Test
	void i17TransferFromBalancesThatAreOutOfDate() {
		transfer(120, 40_000, 40_001, -30, 30, 30);
		transfer(130, 40_000, 40_001, -10, 10, 10);
		assertBroken(Invariant.I17);
	}

	@Test
	void i17TransferThatMakesMoney() {
		transfer(120, 40_000, 40_001, -10, 30, 30);
		assertBroken(Invariant.I17);
	}

	private void transfer(long nanos, int from, int to, long fromBalance, long toBalance, long amount) {
		this.run.resource(nanos, 0, from, Event.TRANSFER, nanos, fromBalance, -amount)
			.resource(nanos, 0, to, Event.TRANSFER, nanos, toBalance, amount);
	}

	@Test
	void i12LockOfADeadHolderIsGrantedBeforeItsLeaseEnds() {
		this.run.killed(0, 200).attempt(0, 0, 100).granted(110, 1).held(111, 190, 1, 1090);
		this.run.attempt(1, 0, 150).granted(700, 2).held(701, 710, 2, 1600).released(711);
		assertBroken(Invariant.I12);
	}

	private void assertBroken(Invariant... expected) {
		assertThat(this.run.broken()).containsExactlyInAnyOrder(expected);
	}

}
