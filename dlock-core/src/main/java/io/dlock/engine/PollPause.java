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
 * process that gets signals from the store polls less often if it has a place in the
 * queue; the interval grows with the place, unless the queue moves.
 */
final class PollPause {

	/**
	 * An exclusive request that does not ask for ten seconds lets new members in.
	 */
	private static final long BEHIND_MEMBERS_NANOS = TimeUnit.SECONDS.toNanos(5);

	/** For a process that listens; others have two poll intervals. */
	private static final long RESERVATION_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final AcquireContext context;

	/**
	 * A queue may move quickly before a process knows that it does.
	 */
	private static final int FIRST_PART = 8;

	private final Backoff backoff;

	private final long shortest;

	private final long longestReservation;

	/** The place in the queue at the last call, and the time of the call. */
	private int lastPlace;

	private long lastCall;

	PollPause(AcquireContext context, Duration maxPollInterval) {
		this.context = context;
		this.backoff = new Backoff(maxPollInterval);
		this.shortest = TimeUnit.NANOSECONDS.convert(maxPollInterval);
		this.longestReservation = Math.max(2 * this.shortest, RESERVATION_NANOS);
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
		boolean outside = last != null && last.place() < 0;
		long pause = (signalled && !outside) ? signalledNanos(last, leaseEnd)
				: Math.min(this.backoff.nextNanos(), leaseEnd);
		if (isExclusiveBehindMembers(last)) {
			pause = Math.min(pause, BEHIND_MEMBERS_NANOS);
		}
		return Math.max(0, Math.min(pause, this.context.deadline().remainingNanos()));
	}

	/**
	 * The pause of a process that the store signals. A signal may be lost, and a process
	 * that is signalled in vain tells no other, so that each one has to know when its
	 * turn is near: after half of the time that the queue needs if it moves as it did
	 * since the last call. In a queue that stands still the pauses double up to those of
	 * the place. The requests of a process that has died precede others one after the
	 * other: if the queue moves by one request only, and the lock is reserved again, the
	 * end of the reservation is awaited.
	 */
	private long signalledNanos(AcquireResult.@Nullable Refused last, long leaseEnd) {
		int place = (last != null) ? last.place() : 0;
		long longest = this.backoff.signalledNanos(place, leaseEnd);
		if (place <= 0) {
			return longest;
		}
		long now = this.context.deadline().elapsed().toNanos();
		long passed = now - this.lastCall;
		long least = this.shortest;
		long pause;
		if (this.lastPlace == 0) {
			pause = longest / FIRST_PART;
		}
		else if (last != null && isReserved(last) && place >= this.lastPlace - 1) {
			pause = leaseEnd;
			least = leaseEnd;
		}
		else if (place < this.lastPlace) {
			pause = passed / (this.lastPlace - place) * place / 2;
		}
		else {
			pause = passed * 2;
		}
		this.lastPlace = place;
		this.lastCall = now;
		return Math.min(longest, Math.max(pause, least));
	}

	/**
	 * A lock that is kept has no holder either, and mostly more time left.
	 */
	private boolean isReserved(AcquireResult.Refused last) {
		return last.lock() == null && last.remaining().toNanos() <= this.longestReservation;
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
