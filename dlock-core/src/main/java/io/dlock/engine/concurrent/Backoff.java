package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Pauses that double up to a limit. Each is shortened by up to half at random, so that
 * waiters do not stay in step.
 */
public final class Backoff {

	private static final long FIRST_NANOS = Duration.ofMillis(2).toNanos();

	private final long limit;

	private long next;

	public Backoff(Duration limit) {
		this.limit = limit.toNanos();
		this.next = Math.min(FIRST_NANOS, this.limit);
	}

	/**
	 * The pause of a request that is signalled when the lock is available.
	 * @return the limit, shortened at random
	 */
	public long longestNanos() {
		return shortened(this.limit);
	}

	public long nextNanos() {
		long current = this.next;
		this.next = Math.min(this.limit, current * 2);
		return shortened(current);
	}

	private static long shortened(long pause) {
		return pause - ThreadLocalRandom.current().nextLong(pause / 2 + 1);
	}

}
