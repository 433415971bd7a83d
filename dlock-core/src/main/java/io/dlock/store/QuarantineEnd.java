package io.dlock.store;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The end of the {@linkplain Quarantine quarantine} of a store as this process knows it,
 * by its monotonic clock. For stores that have a quarantine.
 *
 * @since 0.1
 */
public final class QuarantineEnd {

	/** A quarantine that seems to begin this soon after the last is its rest. */
	private static final long SAME_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final AtomicLong nanos = new AtomicLong(System.nanoTime() - SAME_NANOS);

	/**
	 * Note an answer of the store.
	 * @param remaining how long the store grants no lock
	 * @return whether this is the first answer in this quarantine
	 */
	public boolean note(Duration remaining) {
		long now = System.nanoTime();
		long before = this.nanos.getAndAccumulate(now + remaining.toNanos(),
				(one, other) -> (one - other > 0) ? one : other);
		return now - before >= SAME_NANOS;
	}

	/**
	 * The rest of the quarantine.
	 * @return the rest, zero if there is none
	 */
	public Duration remaining() {
		return Duration.ofNanos(Math.max(0, this.nanos.get() - System.nanoTime()));
	}

}
