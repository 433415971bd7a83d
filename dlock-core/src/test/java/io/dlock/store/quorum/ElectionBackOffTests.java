package io.dlock.store.quorum;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pauses between attempts that split the votes. So many of them are drawn that one of
 * the upper half of a range is among them.
 */
class ElectionBackOffTests {

	private static final int DRAWS = 1000;

	private static final long HOUR = Duration.ofHours(1).toNanos();

	/**
	 * On a busy machine, candidates that pause for less than an attempt split the votes
	 * again.
	 */
	@Test
	void pausesAreFromTwiceTheTimeOfAnAttempt() {
		long attempt = Duration.ofMillis(50).toNanos();
		assertThat(longestOf(() -> new ElectionBackOff().next(attempt, HOUR))).isBetween(attempt, 2 * attempt);
	}

	@Test
	void rangeDoublesUpToALimitUnlessAnAttemptTakesLonger() {
		assertThat(longestOf(() -> new ElectionBackOff().next(0, HOUR))).isBetween(500_000L, 1_000_000L);
		assertThat(longestOf(() -> after(1).next(0, HOUR))).isBetween(1_000_000L, 2_000_000L);
		assertThat(longestOf(() -> after(20).next(0, HOUR))).isBetween(64_000_000L, 128_000_000L);
		assertThat(longestOf(() -> after(20).next(100_000_000, HOUR))).isBetween(128_000_000L, 200_000_000L);
	}

	/**
	 * A candidate that pauses beyond its time fails although it could ask once more.
	 */
	@Test
	void pauseEndsBeforeTheTimeDoes() {
		assertThat(longestOf(() -> after(20).next(100_000_000, 1_000_000))).isBetween(500_000L, 1_000_000L);
	}

	private static ElectionBackOff after(int pauses) {
		ElectionBackOff backOff = new ElectionBackOff();
		LongStream.range(0, pauses).forEach((i) -> backOff.next(0, HOUR));
		return backOff;
	}

	private static long longestOf(LongSupplier pause) {
		return LongStream.generate(pause).limit(DRAWS).max().orElseThrow();
	}

}
