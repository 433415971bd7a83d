package io.dlock.torture.judge;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HandOffs} (I9).
 */
class HandOffsTests {

	private final RunBuilder run = new RunBuilder();

	@BeforeEach
	void leaseIsPassedOn() {
		this.run.tokensPerLease(1024);
		hold(0, 100, 105, 1024);
		hold(0, 106, 150, 1025);
	}

	@Test
	void i9LeaseIsPassedOnForAShortTime() {
		hold(0, 205, 210, 1026);
		hold(1, 212, 400, 2048);
		hold(1, 402, 410, 2049);
		assertThat(this.run.broken()).containsExactly(Invariant.I9);
	}

	@Test
	void i9LeaseIsPassedOnWithinTheTimeOfTheMachine() {
		hold(0, 205, 210, 1026);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i9ProcessThatStandsStillTakesAnOfferLater() {
		this.run.fault(160, 280, "F1", "client-0");
		hold(0, 300, 310, 1026);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i9OfferToAFutureMayWaitForAThread() {
		this.run.attempt(0, 0, 90).then(90, Event.ASYNC).granted(300, 1026).held(301, 310, 1026, 1100).released(311);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i9ReaderJoinsALeaseLater() {
		int key = Keys.placeKey(0);
		this.run.attempt(0, key, 90)
			.places(Integer.MAX_VALUE)
			.granted(91, 1024)
			.held(92, 500, 1024, 1090)
			.released(501);
		this.run.attempt(0, key, 350)
			.places(Integer.MAX_VALUE)
			.granted(351, 1024)
			.held(352, 400, 1024, 1090)
			.released(401);
		assertThat(this.run.broken()).isEmpty();
	}

	@Test
	void i9PermitIsOfferedToACallThatAsksTheStore() {
		int key = Keys.placeKey(Keys.PLACES - 1);
		this.run.attempt(0, key, 90).places(2).granted(100, 5120).held(101, 104, 5120, 1090).released(105);
		this.run.attempt(0, key, 90).places(2).granted(300, 5121).held(301, 304, 5121, 1300).released(305);
		assertThat(this.run.broken()).isEmpty();
		this.run.attempt(0, key, 90).places(2).granted(800, 5122).held(801, 804, 5122, 1800).released(805);
		assertThat(this.run.broken()).containsExactly(Invariant.I9);
	}

	private void hold(int client, long from, long until, long token) {
		this.run.attempt(client, 0, 90).granted(from, token).held(from, until - 1, token, 1090).released(until - 2);
	}

}
