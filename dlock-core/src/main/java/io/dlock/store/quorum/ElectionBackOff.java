package io.dlock.store.quorum;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The pauses between attempts that split the votes. They are random, so that one of the
 * candidates is alone, and from a range that is longer than an attempt takes: candidates
 * that pause for less meet again. The range doubles each time.
 */
final class ElectionBackOff {

	private static final long FIRST = Duration.ofMillis(1).toNanos();

	private static final long LONGEST = Duration.ofMillis(128).toNanos();

	private static final int ATTEMPTS_IN_A_PAUSE = 2;

	private long range = FIRST;

	/**
	 * The next pause.
	 * @param attempt how long the attempt has taken, in nanoseconds
	 * @param left how many nanoseconds are left for the begin of the next one
	 * @return the pause in nanoseconds
	 */
	long next(long attempt, long left) {
		long longest = Math.max(this.range, ATTEMPTS_IN_A_PAUSE * attempt);
		this.range = Math.min(LONGEST, 2 * longest);
		return ThreadLocalRandom.current().nextLong(Math.min(longest, left));
	}

}
