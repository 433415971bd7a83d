package io.dlock.engine.concurrent;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

class DeadlineTests {

	private final TurnedClock clock = new TurnedClock();

	@Test
	void isOverAfterTheWait() {
		Deadline deadline = Deadline.after(this.clock, Duration.ofSeconds(10));
		this.clock.pass(Duration.ofSeconds(9));
		assertThat(deadline.isOver()).isFalse();
		assertThat(deadline.remainingNanos()).isEqualTo(Duration.ofSeconds(1).toNanos());
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(deadline.isOver()).isTrue();
		assertThat(deadline.elapsed()).isEqualTo(Duration.ofSeconds(10));
	}

	@Test
	void zeroIsOverAtOnce() {
		assertThat(Deadline.after(this.clock, Duration.ZERO).isOver()).isTrue();
	}

	@Test
	void unlimitedWaitDoesNotOverflow() {
		Deadline deadline = Deadline.after(this.clock, LockRequest.FOREVER);
		this.clock.pass(Duration.ofDays(1000));
		assertThat(deadline.isOver()).isFalse();
		assertThat(deadline.remainingNanos()).isPositive();
	}

	@Test
	void wallClockStepDoesNotMatter() {
		Deadline deadline = Deadline.after(this.clock, Duration.ofSeconds(10));
		this.clock.stepWall(Duration.ofHours(5));
		assertThat(deadline.isOver()).isFalse();
	}

	@Test
	void backoffDoublesUpToItsLimitWithJitter() {
		Backoff backoff = new Backoff(Duration.ofMillis(100));
		long last = 0;
		for (int i = 0; i < 50; i++) {
			last = backoff.nextNanos();
			assertThat(last).isBetween(Duration.ofMillis(1).toNanos(), Duration.ofMillis(100).toNanos());
		}
		assertThat(last).isGreaterThanOrEqualTo(Duration.ofMillis(50).toNanos());
		assertThat(new Backoff(Duration.ofMillis(100)).nextNanos()).isLessThanOrEqualTo(Duration.ofMillis(2).toNanos());
	}

}
