package io.dlock.store;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link QuarantineEnd}.
 */
class QuarantineEndTests {

	private final QuarantineEnd end = new QuarantineEnd();

	@Test
	void firstAnswerBeginsTheQuarantine() {
		assertThat(this.end.remaining()).isZero();
		assertThat(this.end.note(Duration.ofHours(1))).isTrue();
		assertThat(this.end.note(Duration.ofHours(1))).isFalse();
	}

	/**
	 * Each part of the store has an end of its own.
	 */
	@Test
	void latestEndCounts() {
		this.end.note(Duration.ofHours(2));
		assertThat(this.end.note(Duration.ofHours(1))).isFalse();
		assertThat(this.end.remaining()).isBetween(Duration.ofMinutes(90), Duration.ofHours(2));
		assertThat(this.end.note(Duration.ofHours(4))).isFalse();
		assertThat(this.end.remaining()).isBetween(Duration.ofMinutes(210), Duration.ofHours(4));
	}

}
