package io.dlock.engine.concurrent;

import java.time.Duration;

import org.junit.jupiter.api.RepeatedTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pauses of a request that is signalled grow with its place in the queue.
 */
class BackoffTests {

	private final Backoff backoff = new Backoff(Duration.ofMillis(100));

	private Duration pause(Backoff backoff, int place, Duration lease) {
		return Duration.ofNanos(backoff.signalledNanos(place, lease.toNanos()));
	}

	private Duration pause(int place, Duration lease) {
		return pause(this.backoff, place, lease);
	}

	@RepeatedTest(10)
	void nextPausesForTheLimitAtMost() {
		assertThat(pause(0, Duration.ofSeconds(30))).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
		assertThat(pause(-1, Duration.ofSeconds(30))).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
		assertThat(pause(0, Duration.ofMillis(7))).isEqualTo(Duration.ofMillis(7));
	}

	@RepeatedTest(10)
	void eachThatPrecedesARequestAddsTheLimit() {
		assertThat(pause(1, Duration.ofSeconds(30))).isBetween(Duration.ofMillis(100), Duration.ofMillis(200));
		assertThat(pause(9, Duration.ofMillis(7))).isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
	}

	@RepeatedTest(10)
	void pauseIsBounded() {
		assertThat(pause(10_000, Duration.ofSeconds(4))).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
		assertThat(pause(10_000, Duration.ofSeconds(30))).isBetween(Duration.ofSeconds(15), Duration.ofSeconds(30));
		Backoff patient = new Backoff(Duration.ofDays(365));
		assertThat(pause(patient, 10_000, Duration.ofSeconds(30))).isLessThanOrEqualTo(Duration.ofSeconds(30));
	}

}
