package io.dlock.engine.queue;

import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.LockInfos;
import io.dlock.store.StoreException;
import io.dlock.store.StoredLock;

/**
 * The knowledge of a local queue about its lock, which the first of the queue has from
 * the store: the lock has a holder, in this process or elsewhere, or the store failed.
 *
 * @param here the hold of this process, or {@code null}
 * @param elsewhere the lock of another process as the store described it, or {@code null}
 * @param failure the failure of the store, or {@code null} if the lock has a holder
 */
public record QueueAnswer(@Nullable Hold here, @Nullable StoredLock elsewhere, @Nullable StoreException failure) {

	static QueueAnswer heldHere(Hold hold) {
		return new QueueAnswer(hold, null, null);
	}

	public static QueueAnswer refused(@Nullable StoredLock lock) {
		return new QueueAnswer(null, lock, null);
	}

	public static QueueAnswer failed(StoreException failure) {
		return new QueueAnswer(null, null, failure);
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
