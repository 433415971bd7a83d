package io.dlock.benchmarks.report;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SummaryTests {

	@Test
	void theMedianOfAnOddNumberIsTheMiddleOne() {
		assertThat(Summary.of(List.of(9.0, 1.0, 4.0))).isEqualTo(new Summary(4, 1, 9));
	}

	@Test
	void theMedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
		assertThat(Summary.of(List.of(9.0, 1.0, 4.0, 5.0)).median()).isEqualTo(4.5);
	}

	@Test
	void nothingHasNoMedian() {
		assertThatIllegalArgumentException().isThrownBy(() -> Summary.of(List.of()));
	}

}
