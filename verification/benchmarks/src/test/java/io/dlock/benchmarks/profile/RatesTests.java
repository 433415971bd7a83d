package io.dlock.benchmarks.profile;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.dlock.benchmarks.report.Summary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for {@link Rates}.
 */
class RatesTests {

	@Test
	void allThreadsEndWhenOneHasNothingMoreToDo() throws Exception {
		AtomicInteger left = new AtomicInteger(3);
		List<Double> rates = Rates.of(Duration.ofDays(1), List.of(() -> left.decrementAndGet() > 0),
				List.of(() -> true, () -> true));
		assertThat(left).hasValue(0);
		assertThat(rates).hasSize(2);
		assertThat(rates.get(0)).isPositive();
	}

	@Test
	void failureOfStepEndsAllThreads() {
		assertThatException().isThrownBy(() -> Rates.of(Duration.ofDays(1), List.of(() -> {
			throw new IllegalStateException("broken");
		}, () -> true))).withMessageContaining("broken");
	}

	@Test
	void ratioIsThatOfEachRound() {
		assertThat(Rates.ratio(List.of(2.0, 6.0), List.of(1.0, 2.0))).isEqualTo(new Summary(2.5, 2, 3));
		assertThat(Rates.text("%.1f", new Summary(2.5, 2, 3))).isEqualTo("2.5 (2.0–3.0)");
	}

}
