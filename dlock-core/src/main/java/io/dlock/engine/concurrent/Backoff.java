package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Pauses that double up to a limit. Each is shortened by up to half at random, so that
 * waiters do not stay in step.
 */
public final class Backoff {

	/**
	 * The longest pause of a request that others precede, unless the rest of the lease is
	 * longer: they may all be dead.
	 */
	private static final long FAR_NANOS = Duration.ofSeconds(10).toNanos();

	private static final long FIRST_NANOS = Duration.ofMillis(2).toNanos();

	private final long limit;

	private long next;

	public Backoff(Duration limit) {
		this.limit = limit.toNanos();
		this.next = Math.min(FIRST_NANOS, this.limit);
	}

	/**
	 * The pause of a request that is signalled when the lock is available. The pause of
	 * the next one in the queue of the store is the limit, and each that precedes a
	 * request adds another: so all of them together ask not much more often than a few.
	 * @param place how many precede it
	 * @param leaseNanos the rest of the lease, after which the next one tries
	 * @return the pause, shortened at random
	 */
	public long signalledNanos(int place, long leaseNanos) {
		if (place <= 0) {
			return Math.min(shortened(this.limit), leaseNanos);
		}
		long longest = Math.max(leaseNanos, FAR_NANOS);
		return shortened((this.limit > longest / (place + 1)) ? longest : this.limit * (place + 1));
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
