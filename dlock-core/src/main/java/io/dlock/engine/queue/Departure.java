package io.dlock.engine.queue;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.StoreReleaser;

/**
 * The effects of a request that leaves its queue, which are carried out after the lock of
 * the queue has been released.
 */
final class Departure {

	final List<QueuedRequest> answered = new ArrayList<>(0);

	@Nullable Lease lease;

	@Nullable QueuedRequest successor;

	boolean passedOn;

	/**
	 * The lease comes first: a request that finds itself the first without one would call
	 * the store.
	 */
	void settle(LocalQueue queue, long maxHandOffNanos) {
		if (this.successor == null) {
			return;
		}
		if (this.lease != null) {
			this.passedOn = this.successor.takeOver(this.lease, maxHandOffNanos);
		}
		queue.makeFirst(this.successor);
	}

	void finish(StoreReleaser releaser) {
		if (this.lease != null && !this.passedOn) {
			releaser.end(this.lease);
		}
		this.answered.forEach(QueuedRequest::signal);
		if (this.successor != null) {
			this.successor.signal();
		}
	}

}
