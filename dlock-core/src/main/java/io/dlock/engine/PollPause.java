package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.Backoff;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.store.AcquireResult;
import io.dlock.store.StoredLock;

/**
 * The pauses of a request between its calls to the store: until the lease of the holder
 * ends, but no longer than the back-off, since the holder may release the lock or die. A
 * process that gets signals from the store polls less often; the interval grows with its
 * place in the queue.
 */
final class PollPause {

	/**
	 * An exclusive request that does not ask for ten seconds lets new members in.
	 */
	private static final long BEHIND_MEMBERS_NANOS = TimeUnit.SECONDS.toNanos(5);

	private final AcquireContext context;

	private final Backoff backoff;

	PollPause(AcquireContext context, Duration maxPollInterval) {
		this.context = context;
		this.backoff = new Backoff(maxPollInterval);
	}

	/**
	 * The pause before the next call.
	 * @param last the last answer of the store, or {@code null} if it failed
	 * @param signalled whether the store signals an available lock
	 * @return the pause in nanoseconds, which does not exceed the wait time
	 */
	long nanos(AcquireResult.@Nullable Refused last, boolean signalled) {
		long leaseEnd = (last != null)
				? TimeUnit.NANOSECONDS.convert(last.remaining()) + TimeUnit.MILLISECONDS.toNanos(1) : Long.MAX_VALUE;
		long pause = signalled ? this.backoff.signalledNanos((last != null) ? last.place() : 0, leaseEnd)
				: Math.min(this.backoff.nextNanos(), leaseEnd);
		if (isExclusiveBehindMembers(last)) {
			pause = Math.min(pause, BEHIND_MEMBERS_NANOS);
		}
		return Math.max(0, Math.min(pause, this.context.deadline().remainingNanos()));
	}

	/**
	 * The pause until the store grants locks again. The back-off spreads the processes
	 * that wait for it, since the quarantine ends for all of them at once.
	 * @param remaining the rest of the quarantine
	 * @return the pause in nanoseconds, which does not exceed the wait time
	 */
	long quarantineNanos(Duration remaining) {
		long rest = TimeUnit.NANOSECONDS.convert(remaining) + this.backoff.nextNanos();
		return Math.max(0, Math.min(rest, this.context.deadline().remainingNanos()));
	}

	private boolean isExclusiveBehindMembers(AcquireResult.@Nullable Refused last) {
		StoredLock lock = (last != null) ? last.lock() : null;
		return lock != null && lock.member() && !this.context.terms().isMember();
	}

}
