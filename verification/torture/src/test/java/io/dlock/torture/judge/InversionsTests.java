package io.dlock.torture.judge;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;

import static org.assertj.core.api.Assertions.assertThat;

class InversionsTests extends AbstractRunTests {

	@Test
	void i18CallsAreServedInTheirOrder() {
		hold(0, Keys.FAIR, 100, 110, 800);
		hold(1, Keys.FAIR, 200, 810, 900);
		hold(2, Keys.FAIR, 500, 910, 950);
		assertBroken();
	}

	@Test
	void i18LaterCallOvertakes() {
		overtake(Keys.FAIR, 500);
		assertBroken(Invariant.I18);
	}

	/**
	 * Neither of the two began 100 ms apart from the call between them.
	 */
	@Test
	void i18LaterCallOvertakesTwoPlacesBefore() {
		hold(0, Keys.FAIR, 100, 110, 800);
		hold(2, Keys.FAIR, 350, 810, 850);
		hold(3, Keys.FAIR, 290, 860, 900);
		hold(1, Keys.FAIR, 200, 910, 950);
		assertBroken(Invariant.I18);
	}

	@Test
	void i18CallsThatBeginTogetherHaveNoOrder() {
		overtake(Keys.FAIR, 210);
		assertBroken();
	}

	@Test
	void i18OtherKeysAreNotFair() {
		overtake(0, 500);
		assertBroken();
	}

	@Test
	void i18OvertakenCallThatAFaultHit() {
		this.run.fault(210, 250, "F12", "link-1");
		overtake(Keys.FAIR, 500);
		assertBroken();
	}

	@Test
	void i18CallThatMissedItsTurn() {
		hold(0, Keys.FAIR, 100, 110, 800);
		hold(1, Keys.FAIR, 200, 910, 950);
		hold(2, Keys.FAIR, 500, 850, 900);
		assertBroken();
	}

	@Test
	void i18FaultThatIsOverIsNoExcuse() {
		this.run.store("POSTGRES").fault(10, 20, "F12", "link-1");
		hold(0, Keys.FAIR, 8100, 8110, 8800);
		hold(1, Keys.FAIR, 8200, 8910, 8950);
		hold(2, Keys.FAIR, 8500, 8810, 8900);
		assertBroken(Invariant.I18);
	}

	@Test
	void i18CampaignWithoutACalmEndProvesNothing() {
		assertThat(unproven(30, 2)).isEmpty();
		assertThat(unproven(29, 2)).containsExactly("I18: 29 judged, at least 30 have to be");
		assertThat(unproven(29, 0)).isEmpty();
	}

	@Test
	void i18ExcusedCallsProveNothing() {
		RunBuilder campaign = campaign(29, 2).fault(90_000, 95_000, "F12", "link-1");
		for (int call = 0; call < 5; call++) {
			long begin = 91_000 + call * 500;
			campaign.attempt(1, Keys.FAIR, begin).granted(begin + 200, begin).released(begin + 290);
		}
		Verdict verdict = campaign.judge();
		assertThat(verdict.coverage().get(Invariant.I18).excused()).isEqualTo(5);
		assertThat(verdict.unproven()).contains("I18: 29 judged, at least 30 have to be");
	}

	private List<String> unproven(int judged, int fair) {
		return campaign(judged, fair).judge().unproven().stream().filter((reason) -> reason.startsWith("I18")).toList();
	}

	private static RunBuilder campaign(int judged, int fair) {
		RunBuilder campaign = new RunBuilder().option("fair", String.valueOf(fair));
		for (int call = 0; call < judged; call++) {
			long begin = 1000 + call * 100;
			campaign.attempt(call % 2, Keys.FAIR, begin).granted(begin + 200, begin).released(begin + 290);
		}
		return campaign;
	}

	private void overtake(int key, long laterCall) {
		hold(0, key, 100, 110, 800);
		hold(1, key, 200, 910, 950);
		hold(2, key, laterCall, 810, 900);
	}

	private void hold(int client, int key, long invoked, long granted, long until) {
		this.run.attempt(client, key, invoked)
			.granted(granted, granted)
			.held(granted + 1, until, granted, granted + 1000)
			.released(until + 1);
	}

}
