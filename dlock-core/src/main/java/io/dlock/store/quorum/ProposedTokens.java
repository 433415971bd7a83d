package io.dlock.store.quorum;

import java.util.concurrent.TimeUnit;

/**
 * Proposes a token for all votes of an attempt, a little ahead of the clocks of the
 * nodes: votes with one token need no second round trip that raises it. A node whose
 * clock is further ahead mints a token of its own, as if nothing had been proposed, and
 * the next proposal is later.
 */
final class ProposedTokens {

	private static final long AHEAD_MICROS = TimeUnit.MILLISECONDS.toMicros(5);

	/** The clock of the nodes less that of this process, or 0 if it is not known. */
	private volatile long offset;

	/**
	 * The token for an attempt that begins now.
	 * @return the token, or 0 if the clocks of the nodes are not known
	 */
	long propose() {
		long known = this.offset;
		return (known != 0) ? micros() + known : 0;
	}

	/**
	 * Learn that the votes had different tokens.
	 * @param proposed the token that was proposed, or 0
	 * @param largest the largest token of the votes
	 */
	void learn(long proposed, long largest) {
		if (proposed != 0 || this.offset == 0) {
			// a token that is too far ahead says nothing about the clock
			this.offset = (largest < proposed) ? 0 : largest - micros() + AHEAD_MICROS;
		}
	}

	private static long micros() {
		return TimeUnit.NANOSECONDS.toMicros(System.nanoTime());
	}

}
