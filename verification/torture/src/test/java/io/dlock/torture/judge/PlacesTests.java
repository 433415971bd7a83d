package io.dlock.torture.judge;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;
import io.dlock.torture.judge.RunBuilder.AttemptBuilder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the judgement of shared locks and permits (I1 to I4, I12).
 */
class PlacesTests {

	private static final int SHARED = Integer.MAX_VALUE;

	private static final int MODES = Keys.placeKey(0);

	private static final int LIMIT = Keys.placeKey(Keys.PLACES - 1);

	private final RunBuilder run = new RunBuilder();

	@Test
	void i1ReadersOverlapReaders() {
		shared(0, 100, 200, 1);
		shared(1, 120, 220, 2);
		shared(2, 140, 180, 3);
		assertBroken();
	}

	/**
	 * The violation names the reader with which the writer overlaps for longest.
	 */
	@Test
	void i1WriterOverlapsSeveralReaders() {
		this.run.attempt(0, MODES, 100).places(SHARED).granted(110, 1).held(111, 150, 1, 1100).released(151);
		this.run.attempt(1, MODES, 100).places(SHARED).granted(120, 2).held(121, 300, 2, 1100).released(301);
		this.run.attempt(2, MODES, 130).granted(140, 3).held(141, 250, 3, 1130).released(251);
		assertThat(this.run.judge().violations()).filteredOn((violation) -> violation.invariant() == Invariant.I1)
			.singleElement()
			.satisfies((violation) -> assertThat(violation.text()).contains("both valid for 109.000 ms"));
	}

	@Test
	void i1ReaderWhoseValueChangedReadsOnceMore() {
		this.run.attempt(0, MODES, 100)
			.places(SHARED)
			.granted(110, 1)
			.held(111, 150, 1, 1100)
			.read(120, 1, 2)
			.read(130, 2, 2)
			.released(151);
		assertBroken(Invariant.I1);
	}

	@Test
	void i1WriterOverlapsReader() {
		shared(0, 100, 200, 1);
		shared(1, 110, 130, 2);
		this.run.attempt(2, MODES, 140).granted(150, 3).held(151, 250, 3, 1110).released(251);
		assertBroken(Invariant.I1, Invariant.I12);
	}

	@Test
	void i1ReaderOverlapsWriter() {
		this.run.attempt(2, MODES, 100).granted(110, 1).held(111, 200, 1, 1110).released(201);
		shared(0, 150, 250, 2);
		assertBroken(Invariant.I1, Invariant.I12);
	}

	@Test
	void i1WriterFollowsReaders() {
		shared(0, 100, 200, 1);
		shared(1, 110, 180, 2);
		this.run.attempt(2, MODES, 140).granted(210, 3).held(211, 250, 3, 1110).released(251);
		assertBroken();
	}

	@Test
	void i12WriterBeforeTheEndOfADeadReader() {
		this.run.killed(0, 200).attempt(0, MODES, 100).places(SHARED).granted(110, 1).held(111, 190, 1, 1090);
		shared(1, 120, 220, 2);
		this.run.attempt(2, MODES, 140).granted(700, 3).held(701, 710, 3, 1600).released(711);
		assertBroken(Invariant.I12);
	}

	@Test
	void i12ReaderBeforeTheEndOfADeadWriter() {
		this.run.killed(0, 200).attempt(0, MODES, 100).granted(110, 1).held(111, 190, 1, 1090);
		shared(1, 700, 800, 2);
		assertBroken(Invariant.I12);
	}

	@Test
	void i12ReadersNeedNotOutliveADeadReader() {
		this.run.killed(0, 200).attempt(0, MODES, 100).places(SHARED).granted(110, 1).held(111, 190, 1, 1090);
		shared(1, 700, 800, 2);
		assertBroken();
	}

	@Test
	void i12ReaderThatJoinsALeaseDelaysTheWriter() {
		shared(0, 100, 200, 1);
		this.run.killed(0, 400).attempt(0, MODES, 300).places(SHARED).granted(310, 1).held(311, 390, 1, 1290);
		this.run.attempt(2, MODES, 140).granted(700, 2).held(701, 710, 2, 1600).released(711);
		assertBroken(Invariant.I12);
	}

	@Test
	void i12ReaderThatAskedReturnsAfterThoseThatJoin() {
		this.run.attempt(0, MODES, 90).places(SHARED).granted(130, 1).held(131, 140, 1, 1090).released(141);
		this.run.attempt(1, MODES, 100).places(SHARED).granted(110, 2).held(111, 140, 2, 1100).released(141);
		this.run.attempt(0, MODES, 120).places(SHARED).granted(121, 1).held(122, 140, 1, 1090).released(141);
		assertBroken();
	}

	@Test
	void i12ReaderAfterADowngradeThatIsAnsweredTooLate() {
		AttemptBuilder exclusive = this.run.attempt(0, MODES, 100).granted(110, 1).held(111, 149, 1, 1100);
		this.run.fault(150, 1290, "F1", "client-0");
		exclusive.then(150, Event.RELEASE_SENT);
		this.run.attempt(0, MODES, 150).downgrade(exclusive).then(1300, Event.REFUSED);
		exclusive.then(1301, Event.RELEASED_LOST);
		shared(1, 400, 500, 3);
		assertThat(this.run.broken()).doesNotContain(Invariant.I12);
	}

	@Test
	void i12WriterAfterAReaderWithAKnownLoss() {
		this.run.attempt(0, MODES, 100).places(SHARED).granted(110, 1).held(111, 190, 1, 1090).then(200, Event.LOST);
		this.run.attempt(2, MODES, 140).granted(700, 3).held(701, 710, 3, 1600).released(711);
		assertThat(this.run.broken()).doesNotContain(Invariant.I12);
	}

	@Test
	void i1AsManyPermitsAsAskedFor() {
		permit(0, 2, 100, 200, 1);
		permit(1, 2, 110, 210, 2);
		permit(2, 2, 220, 300, 3);
		assertBroken();
	}

	@Test
	void i1OnePermitTooMany() {
		permit(0, 2, 100, 200, 1);
		permit(1, 2, 110, 210, 2);
		permit(2, 2, 120, 300, 3);
		assertBroken(Invariant.I1);
	}

	/**
	 * The store granted two of the permits only.
	 */
	@Test
	void i1PermitThatIsPassedOnAndKept() {
		this.run.tokensPerLease(10);
		permit(0, 2, 100, 200, 10);
		permit(1, 2, 110, 210, 20);
		permit(0, 2, 112, 118, 11);
		assertBroken(Invariant.I1);
	}

	@Test
	void i1PermitOfALowLimitBesideAsManyOfAHighOne() {
		permit(0, 3, 100, 200, 1);
		permit(1, 3, 110, 210, 2);
		permit(2, 2, 120, 300, 3);
		assertBroken(Invariant.I1);
	}

	@Test
	void i1PermitOfALowLimitIsNotFollowedByTooManyOfItsKind() {
		permit(0, 2, 100, 200, 1);
		permit(1, 3, 110, 210, 2);
		permit(2, 3, 120, 300, 3);
		assertBroken();
	}

	@Test
	void i1PermitOfALowLimitWaitsForTheOthers() {
		permit(0, 3, 100, 200, 1);
		permit(1, 3, 110, 210, 2);
		this.run.attempt(2, LIMIT, 120).places(2).granted(203, 3).held(204, 300, 3, 1203).released(301);
		assertBroken();
	}

	@Test
	void i1PermitOfALowLimitWaitedAndDidNotWaitForTheOthers() {
		permit(0, 3, 100, 200, 1);
		permit(1, 3, 110, 210, 2);
		this.run.attempt(2, LIMIT, 50).places(2).granted(160, 3, 1155).held(161, 300, 3, 1155).released(301);
		assertBroken(Invariant.I1);
	}

	@Test
	void i1PermitOfALowLimitMayHaveBeenGrantedBeforeTheOthers() {
		permit(0, 3, 100, 200, 1);
		permit(1, 3, 110, 210, 2);
		this.run.attempt(2, LIMIT, 50).places(2).granted(160, 3).held(161, 300, 3, 1155).released(301);
		assertBroken();
	}

	@Test
	void i1PermitOfALowLimitFollowsAHolderWhoseEndIsUncertain() {
		permit(0, 3, 100, 200, 1);
		this.run.attempt(1, LIMIT, 110).places(3).granted(111, 2).held(112, 150, 2, 1110).released(240);
		this.run.attempt(2, LIMIT, 140).places(2).granted(151, 3).held(152, 300, 3, 1140).released(301);
		assertBroken();
	}

	@Test
	void i1PermitOfALowLimitIsGrantedBetweenTwoHolders() {
		permit(0, 3, 100, 200, 1);
		permit(1, 3, 100, 150, 2);
		permit(3, 3, 153, 250, 3);
		this.run.attempt(2, LIMIT, 130).places(2).granted(170, 4).held(171, 300, 4, 1130).released(301);
		assertBroken();
	}

	@Test
	void i1PermitThatIsPassedOnIsNotCountedAgain() {
		this.run.tokensPerLease(1024);
		permit(0, 2, 100, 200, 1024);
		permit(1, 2, 105, 110, 2048);
		permit(2, 3, 107, 250, 3072);
		permit(1, 2, 112, 150, 2049);
		assertBroken();
		permit(1, 2, 160, 180, 4096);
		assertBroken(Invariant.I1);
	}

	@Test
	void i1PermitThatIsGrantedAndNeverUsed() {
		permit(0, 2, 100, 200, 1);
		permit(1, 2, 110, 210, 2);
		this.run.attempt(2, LIMIT, 120).places(2).granted(130, 3);
		assertBroken(Invariant.I1);
	}

	@Test
	void i1ReaderBesideADowngradedLock() {
		downgraded();
		shared(1, 155, 250, 3);
		assertBroken();
	}

	@Test
	void i1ReaderBeforeTheDowngrade() {
		downgraded();
		shared(1, 140, 250, 3);
		assertBroken(Invariant.I1, Invariant.I12);
	}

	@Test
	void i1ReaderMayBeValidDuringTheDowngrade() {
		downgraded();
		this.run.attempt(1, MODES, 120).places(SHARED).granted(152, 3).held(153, 250, 3, 1150).released(251);
		assertBroken();
	}

	@Test
	void i1WriterBesideADowngradedLock() {
		downgraded();
		this.run.attempt(1, MODES, 155).granted(170, 3).held(171, 190, 3, 1170).released(191);
		assertBroken(Invariant.I1, Invariant.I12);
	}

	@Test
	void i1WriterBeforeTheDowngrade() {
		downgraded();
		this.run.attempt(1, MODES, 120).granted(130, 3).held(131, 140, 3, 1130).released(141);
		assertBroken(Invariant.I1, Invariant.I3, Invariant.I12);
	}

	@Test
	void i1WriterDuringTheDowngrade() {
		AttemptBuilder exclusive = this.run.attempt(0, MODES, 100).granted(110, 1).held(111, 149, 1, 1100);
		exclusive.released(150);
		this.run.attempt(1, MODES, 140).granted(152, 2).held(152, 153, 2, 1150).released(153);
		assertBroken();
		this.run.attempt(0, MODES, 150).downgrade(exclusive).granted(158, 3).held(159, 200, 3, 1156).released(201);
		assertBroken(Invariant.I1);
	}

	@Test
	void i20LockThatIsCalledLostByItsDowngrade() {
		lostDowngrade();
		assertBroken(Invariant.I20);
	}

	@Test
	void i10LockThatIsLostInItsDowngradeAfterAFault() {
		this.run.fault(120, 149, "F4", "store");
		lostDowngrade();
		assertBroken();
	}

	@Test
	void i10DowngradeThatFails() {
		failedDowngrade();
		assertBroken(Invariant.I10);
	}

	@Test
	void i10DowngradeThatFailsAfterAFault() {
		this.run.fault(120, 149, "F4", "store");
		failedDowngrade();
		assertBroken();
	}

	@Test
	void i1ValueThatAReaderHasReadChanges() {
		shared(0, 100, 200, 1);
		this.run.attempt(1, MODES, 300)
			.places(SHARED)
			.granted(310, 2)
			.held(311, 400, 2, 1300)
			.then(399, Event.SHARED_READ, 2)
			.released(401);
		assertBroken();
		this.run.attempt(1, MODES, 500)
			.places(SHARED)
			.granted(510, 3)
			.held(511, 600, 3, 1500)
			.read(599, 7, 8)
			.released(601);
		assertBroken(Invariant.I1);
	}

	@Test
	void i2ReaderBehindALaterWriter() {
		shared(0, 100, 200, 1);
		this.run.resource(120, 0, MODES, Event.SHARED_READ, 5, 0, 0)
			.resource(130, 1, MODES, Event.SHARED_READ, 4, 0, 0);
		assertBroken();
		this.run.resource(140, 1, MODES, Event.FENCED_WRITE, 6, 1, 0)
			.resource(150, 1, MODES, Event.SHARED_READ, 5, 1, 0);
		assertBroken(Invariant.I2);
	}

	@Test
	void i2WriterBehindAReader() {
		shared(0, 100, 200, 1);
		this.run.resource(120, 0, MODES, Event.SHARED_READ, 5, 0, 0)
			.resource(140, 1, MODES, Event.FENCED_WRITE, 4, 1, 0);
		assertBroken(Invariant.I2);
	}

	@Test
	void i3ReaderMayJoinAnOlderLease() {
		shared(0, 100, 200, 4);
		shared(1, 110, 130, 5);
		shared(0, 140, 190, 4);
		assertBroken();
	}

	@Test
	void i3ReaderAfterALaterWriter() {
		this.run.attempt(2, MODES, 100).granted(110, 5).held(111, 150, 5, 1110).released(151);
		shared(0, 200, 300, 4);
		assertBroken(Invariant.I3, Invariant.I12);
	}

	@Test
	void i3WriterAfterALaterReader() {
		shared(0, 100, 200, 5);
		this.run.attempt(2, MODES, 300).granted(310, 4).held(311, 350, 4, 1310).released(351);
		assertBroken(Invariant.I3, Invariant.I12);
	}

	@Test
	void i4ReadersOfTwoProcessesHaveOneToken() {
		shared(0, 100, 200, 5);
		shared(1, 110, 200, 5);
		assertThat(this.run.broken()).contains(Invariant.I4);
	}

	@Test
	void i4PermitsOfOneProcessHaveOneToken() {
		permit(0, 2, 100, 200, 5);
		permit(0, 2, 110, 200, 5);
		assertBroken(Invariant.I4);
	}

	/**
	 * A lock that is exclusive until its downgrade, from 150 to 154, and shared
	 * afterwards.
	 */
	private void downgraded() {
		AttemptBuilder exclusive = this.run.attempt(0, MODES, 100).granted(110, 1).held(111, 149, 1, 1100);
		exclusive.then(150, Event.RELEASE_SENT).then(154, Event.RELEASED);
		this.run.attempt(0, MODES, 150).downgrade(exclusive).granted(153, 2).held(154, 200, 2, 1150).released(201);
	}

	private void lostDowngrade() {
		AttemptBuilder exclusive = this.run.attempt(0, MODES, 100)
			.renewed()
			.granted(110, 1)
			.held(111, 149, 1, 1100)
			.then(150, Event.RELEASE_SENT)
			.then(152, Event.RELEASED_LOST);
		this.run.attempt(0, MODES, 150).downgrade(exclusive).then(152, Event.REFUSED);
	}

	private void failedDowngrade() {
		AttemptBuilder exclusive = this.run.attempt(0, MODES, 100).granted(110, 1).held(111, 149, 1, 1100);
		exclusive.released(150);
		this.run.attempt(0, MODES, 150).downgrade(exclusive).then(152, Event.UNKNOWN);
	}

	private void shared(int client, long from, long to, long token) {
		hold(client, MODES, SHARED, from, to, token);
	}

	private void permit(int client, int limit, long from, long to, long token) {
		hold(client, LIMIT, limit, from, to, token);
	}

	private void hold(int client, int key, int places, long from, long to, long token) {
		this.run.attempt(client, key, from)
			.places(places)
			.granted(from + 1, token)
			.held(from + 2, to, token, from + 1000)
			.released(to + 1);
	}

	private void assertBroken(Invariant... expected) {
		assertThat(this.run.broken()).containsExactlyInAnyOrder(expected);
	}

}
