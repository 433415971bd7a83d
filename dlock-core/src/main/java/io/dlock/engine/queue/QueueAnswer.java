package io.dlock.engine.queue;

import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.LockInfos;
import io.dlock.store.StoreException;
import io.dlock.store.StoredLock;

/**
 * The last known state of a lock, which the first of its queue has from the store: the
 * lock has a holder, in this process or elsewhere, or the store failed.
 *
 * @param here the hold of this process, or {@code null}
 * @param elsewhere the lock of another process as the store described it, or {@code null}
 * @param failure the failure of the store, or {@code null} if the lock has a holder
 * @param limit the highest limit of a request that the answer is for: a place may be free
 * for a higher one than that of the request that asked
 */
public record QueueAnswer(@Nullable Hold here, @Nullable StoredLock elsewhere, @Nullable StoreException failure,
		int limit) {

	static QueueAnswer heldHere(Hold hold) {
		return new QueueAnswer(hold, null, null, limit(hold.context()));
	}

	/**
	 * A member of this process holds the key, which is an answer for exclusive requests
	 * only.
	 */
	static QueueAnswer sharedHere(Hold hold) {
		return new QueueAnswer(hold, null, null, LeaseTerms.EXCLUSIVE);
	}

	/**
	 * Members do not keep others of their kind from the key, unless an exclusive request
	 * waits behind them.
	 */
	public static QueueAnswer refused(@Nullable StoredLock lock, AcquireContext asked) {
		boolean byMembers = lock != null && lock.member() && !asked.terms().isMember() && asked.deadline().isOver();
		return new QueueAnswer(null, lock, null, byMembers ? LeaseTerms.EXCLUSIVE : limit(asked));
	}

	public static QueueAnswer failed(StoreException failure) {
		return new QueueAnswer(null, null, failure, Integer.MAX_VALUE);
	}

	private static int limit(AcquireContext asked) {
		return asked.terms().isMember() ? asked.terms().limit() : Integer.MAX_VALUE;
	}

	/**
	 * Whether the store itself failed. A method may proceed without its lock then, and
	 * not after congestion or in a quarantine.
	 * @return {@code false} if the store answered
	 */
	public boolean isOutage() {
		return this.failure != null && this.failure.isOutage();
	}

	/**
	 * The holder, for people.
	 * @return the holder, or {@code null} if it is unknown
	 */
	public @Nullable LockInfo holder() {
		if (this.here != null) {
			return LockInfos.of(this.here);
		}
		return (this.elsewhere != null) ? LockInfos.of(this.elsewhere) : null;
	}

}
