package io.dlock.store.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A hybrid logical clock: the wall clock in microseconds, but always rising.
 */
final class TokenClock {

	private static final long MAX_AHEAD = TimeUnit.MILLISECONDS.toMicros(10);

	private final AtomicLong last = new AtomicLong();

	/**
	 * The next token.
	 * @param least the least token, which counts as far as it is not too far ahead
	 */
	long next(long least) {
		long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
		long wanted = Math.max(now, Math.min(least, now + MAX_AHEAD));
		return this.last.updateAndGet((previous) -> Math.max(previous + 1, wanted));
	}

	void raise(long token) {
		this.last.accumulateAndGet(token, Math::max);
	}

	void set(long token) {
		this.last.set(token);
	}

}
