package io.dlock.torture.judge;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Recovery} (I8).
 */
class RecoveryTests {

	private final RunBuilder run = new RunBuilder();

	@Test
	void i8CampaignWithAllFaultsAndWithoutARecoveryProvesNothing() {
		assertThat(unproven("all")).contains("I8: 0 judged, at least 1 have to be",
				"I15: 0 judged, at least 1 have to be");
		assertThat(unproven("F3")).noneMatch((reason) -> reason.startsWith("I8") || reason.startsWith("I15"));
	}

	@Test
	void i15FaultsOfSentinelsRestoreNothing() {
		assertThat(unproven("all", "REDIS_SENTINEL")).contains("I8: 0 judged, at least 1 have to be")
			.noneMatch((reason) -> reason.startsWith("I15"));
	}

	private static List<String> unproven(String faults) {
		return unproven(faults, "REDIS");
	}

	private static List<String> unproven(String faults, String store) {
		RunBuilder campaign = new RunBuilder().option("only", faults).option("store", store);
		campaign.attempt(0, 0, 100).granted(110, 1).held(111, 190, 1, 1090).released(200);
		return campaign.judge().unproven();
	}

	@Test
	void i8LockOfDeadHolderIsNotRecovered() {
		this.run.killed(0, 200).attempt(0, 0, 100).granted(110, 1).held(111, 190, 1, 1090);
		this.run.attempt(1, 0, 150).granted(2140, 2).held(2141, 2150, 2, 3000).released(2151);
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I8)).isPositive();
		assertThat(verdict.isClean()).isFalse();
		Recoveries recovery = verdict.figures().recovery();
		assertThat(recovery.beyondLease()).containsExactly(940.0);
		assertThat(recovery.beyondEnd()).containsExactly(1050.0);
		assertThat(recovery.isDeathTargetMet()).isFalse();
	}

	@Test
	void i8LockOfDeadHolderStaysTakenForCallsThatDoNotWaitLong() {
		staysTaken();
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I8)).isEqualTo(1);
		assertThat(verdict.violations().get(0).text()).contains("was kept from others for");
		assertThat(verdict.isClean()).isFalse();
	}

	@Test
	void i8LockOfDeadHolderMayStayTakenWhileTheStoreIsNotWell() {
		staysTaken();
		this.run.fault(300, 11_000, "F12", "link-1");
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I8)).isZero();
		assertThat(verdict.coverage().get(Invariant.I8).excused()).isPositive();
	}

	/**
	 * The limit is a turn, a poll and the slack, and a turn for each client: 800.
	 */
	@ParameterizedTest
	@CsvSource({ "2, 0", "4, 1" })
	void i8LockOfDeadHolderStaysTakenForLongerThanTheLimit(int calls, int broken) {
		staysTaken(calls);
		assertThat(this.run.judge().counts().get(Invariant.I8)).isEqualTo(broken);
	}

	private void staysTaken() {
		staysTaken(30);
	}

	private void staysTaken(int calls) {
		this.run.killed(0, 200).attempt(0, 0, 100).granted(110, 1).held(111, 190, 1, 1090);
		for (int call = 0; call < calls; call++) {
			this.run.attempt(1, 0, 1300 + 320 * call).waiting(300).then(1600 + 320 * call, Event.REFUSED);
		}
		long end = 1400 + 320 * calls;
		this.run.attempt(1, 0, end).granted(end + 5, 2).held(end + 6, end + 10, 2, end + 1000).released(end + 11);
	}

	@Test
	void i8LockOfDeadHolderIsGrantedAsSoonAsItsLeaseIsOver() {
		this.run.killed(0, 700).attempt(0, 0, 100).granted(110, 1).held(111, 690, 1, 1090);
		this.run.attempt(1, 0, 1080).granted(1105, 2).held(1106, 1150, 2, 2100).released(1151);
		Recoveries recovery = this.run.judge().figures().recovery();
		assertThat(recovery.beyondLease()).containsExactly(-595.0);
		assertThat(recovery.beyondEnd()).containsExactly(15.0);
		assertThat(recovery.isDeathTargetMet()).isTrue();
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i8RenewedHolderThatHadNotAskedForWhileHasNoKnownEnd() {
		this.run.killed(0, 900).attempt(0, 0, 100).renewed().granted(110, 1).held(111, 112, 1, 1090);
		this.run.attempt(1, 0, 150).granted(1750, 2).held(1751, 1760, 2, 2700).released(1761);
		Recoveries recovery = this.run.judge().figures().recovery();
		assertThat(recovery.beyondLease()).containsExactly(-150.0);
		assertThat(recovery.beyondEnd()).isEmpty();
	}

	@Test
	void i8DeathsThatSayNothingAreNotCounted() {
		this.run.killed(0, 200);
		// no request waited
		this.run.attempt(0, 0, 100).granted(110, 1).held(111, 190, 1, 1090);
		this.run.attempt(1, 0, 1500).granted(1505, 2).held(1506, 1510, 2, 2400).released(1511);
		// it was on its way out
		this.run.attempt(0, 1, 100).granted(110, 1).held(111, 190, 1, 1090).then(199, Event.RELEASE_SENT);
		this.run.attempt(1, 1, 150).granted(1100, 2).held(1101, 1110, 2, 2000).released(1111);
		// it had lost the lock before
		this.run.attempt(0, 2, 100).granted(110, 1).held(111, 120, 1, 1090).then(130, Event.FOUND_LOST);
		this.run.attempt(1, 2, 150).granted(1100, 2).held(1101, 1110, 2, 2000).released(1111);
		assertThat(this.run.judge().figures().recovery().beyondLease()).isEmpty();
	}

	@Test
	void i8DeathIsNotCountedIfAnythingElseWasBroken() {
		deathAndHeir().fault(2300, 2350, "F12", "link-2").attempt(2, 5, 100).granted(110, 9).released(120);
		assertThat(this.run.judge().figures().recovery().beyondLease()).isEmpty();
	}

	@Test
	void i8DeathIsNotCountedIfAnotherClientStoodStill() {
		deathAndHeir().fault(2300, 2900, "F1", "client-2").attempt(2, 5, 100).granted(110, 9).released(120);
		assertThat(this.run.judge().figures().recovery().beyondLease()).isEmpty();
	}

	@Test
	void i8DeathIsNotCountedIfAnotherClientDied() {
		deathAndHeir().killed(2, 2400).attempt(2, 5, 100).granted(110, 9).released(120);
		assertThat(this.run.judge().figures().recovery().beyondLease()).isEmpty();
	}

	@Test
	void i8DeathAfterFaultThatIsOverIsCounted() {
		deathAndHeir().fault(1100, 1700, "F12", "links").attempt(2, 5, 100).granted(110, 9).released(120);
		assertThat(this.run.judge().figures().recovery().beyondLease()).containsExactly(-90.0);
	}

	private RunBuilder deathAndHeir() {
		this.run.killed(0, 2200).attempt(0, 0, 2100).granted(2110, 1).held(2111, 2190, 1, 3090);
		return this.run.attempt(1, 0, 2150).granted(3110, 2).held(3111, 3120, 2, 4000).released(3121);
	}

	@Test
	void i8StoreIsHealedButNothingIsGranted() {
		this.run.fault(1000, 2000, "F5", "store");
		this.run.attempt(0, 0, 1500).waiting(3000).granted(3500, 1).held(3501, 3510, 1, 4400).released(3511);
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I8)).isEqualTo(1);
		assertThat(verdict.figures().recovery().afterHeal()).containsExactly(1500.0);
		assertThat(verdict.figures().recovery().isHealTargetMet()).isFalse();
	}

	@Test
	void i8StoreIsHealedAndGrantsAtOnce() {
		this.run.fault(1000, 2000, "F5", "store");
		this.run.attempt(0, 0, 1500).waiting(3000).granted(2250, 1).held(2251, 2260, 1, 3200).released(2261);
		Verdict verdict = this.run.judge();
		assertThat(verdict.counts().get(Invariant.I8)).isZero();
		assertThat(verdict.figures().recovery().afterHeal()).containsExactly(250.0);
		assertThat(verdict.figures().recovery().isHealTargetMet()).isTrue();
	}

	@Test
	void i8FaultThatBlocksNoClientIsNoOutage() {
		this.run.fault(1000, 2000, "F7", "store");
		this.run.attempt(0, 0, 1500).granted(1950, 1).held(1951, 1960, 1, 2900).released(1961);
		this.run.attempt(0, 0, 1970).granted(2010, 2).held(2011, 2020, 2, 2900).released(2021);
		assertThat(this.run.judge().figures().recovery().afterHeal()).isEmpty();
	}

	@Test
	void i8StoreIsHealedAndTheOnlyLockThatIsWantedIsHeld() {
		this.run.fault(1000, 2000, "F5", "store");
		this.run.killed(2, 500).attempt(2, 1, 490);
		this.run.attempt(0, 0, 900).granted(910, 1).held(911, 2290, 1, 3000).released(2300);
		this.run.attempt(1, 0, 1500).waiting(3000).granted(2305, 2).held(2306, 2310, 2, 3300).released(2311);
		assertThat(this.run.judge().figures().recovery().afterHeal()).containsExactly(3.0);
	}

	@Test
	void i8StoreIsHealedAndTheOnlyWantedLockMayBeHeldByAClientThatCannotReleaseIt() {
		this.run.fault(1000, 2000, "F5", "store");
		this.run.attempt(0, 0, 950).then(1100, Event.UNKNOWN);
		this.run.attempt(1, 0, 1500).waiting(3000).granted(2450, 2).held(2451, 2460, 2, 3400).released(2461);
		assertThat(this.run.judge().figures().recovery().afterHeal()).containsExactly(450.0);
		this.run.fault(900, 2800, "F9", "link-0");
		assertThat(this.run.judge().figures().recovery().afterHeal()).isEmpty();
	}

	@Test
	void i8GapAfterFaultIsCountedWhateverWasGrantedDuringIt() {
		this.run.fault(1000, 2000, "F7", "store");
		this.run.attempt(0, 0, 1500).granted(1950, 1).held(1951, 1960, 1, 2900).released(1961);
		this.run.attempt(0, 0, 1970).granted(2500, 2).held(2501, 2520, 2, 3400).released(2521);
		assertThat(this.run.judge().figures().recovery().afterHeal()).containsExactly(500.0);
	}

	@Test
	void i8HealIsNotCountedWhileEveryClientHasTroubleOfItsOwn() {
		this.run.fault(1000, 2000, "F5", "store").fault(1500, 2900, "F12", "link-0");
		this.run.attempt(0, 0, 1500).waiting(3000).granted(3000, 1).held(3001, 3010, 1, 3900).released(3011);
		assertThat(this.run.judge().figures().recovery().afterHeal()).isEmpty();
		this.run.attempt(1, 1, 1500).then(1600, Event.UNKNOWN);
		assertThat(this.run.judge().figures().recovery().afterHeal()).containsExactly(1000.0);
	}

	@Test
	void i8HealThatIsFollowedByNextOutageIsNotCounted() {
		this.run.fault(1000, 2000, "F5", "store").fault(2100, 2900, "F6", "node-0");
		this.run.attempt(0, 0, 1500).waiting(3000).granted(2990, 1).held(2991, 3000, 1, 3900).released(3001);
		assertThat(this.run.judge().figures().recovery().afterHeal()).containsExactly(90.0);
	}

}
