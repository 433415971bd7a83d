package io.dlock.store.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A hybrid logical clock: the wall clock in microseconds, but always rising.
 */
final class TokenClock {

	private final AtomicLong last = new AtomicLong();

	long next() {
		long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
		return this.last.updateAndGet((previous) -> Math.max(previous + 1, now));
	}

	void raise(long token) {
		this.last.accumulateAndGet(token, Math::max);
	}

	void set(long token) {
		this.last.set(token);
	}

}
