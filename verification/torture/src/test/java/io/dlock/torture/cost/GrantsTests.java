package io.dlock.torture.cost;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Grants} and {@link Spread}.
 */
class GrantsTests {

	@Test
	void longestGapIsThatBetweenTwoGrantsSinceTheOthersWereForgotten() {
		Grants grants = new Grants(100);
		grants.granted(1000);
		grants.forgetGaps();
		grants.granted(1010);
		grants.granted(1310);
		grants.granted(1330);
		assertThat(grants.longestGap()).isEqualTo(Duration.ofNanos(300));
	}

	@Test
	void spreadHasTheFigureInTheMiddleAndTheOutermost() {
		assertThat(Spread.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new Spread(2, 1, 3));
		assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 3.0))).isEqualTo(new Spread(2.5, 1, 4));
		assertThat(new Spread(2, 1, 3).text("%.1f s")).isEqualTo("2.0 s (1.0–3.0)");
	}

}
