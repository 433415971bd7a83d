package io.dlock.engine;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.AcquireResult;

/**
 * A request for the next lock of a set, whose first call to the store asks for the
 * {@link PrefetchedLocks} as well. Later calls ask for this lock alone: a caller that
 * waits for one lock does not take others again and again.
 */
final class BatchAcquisition extends Acquisition {

	private final PrefetchedLocks prefetched;

	BatchAcquisition(AcquireContext context, RequestServices services, PrefetchedLocks prefetched) {
		super(context, services);
		this.prefetched = prefetched;
	}

	@Override
	@Nullable Hold attemptOnce(QueuedRequest queued) {
		Hold hold = null;
		try {
			hold = super.attemptOnce(queued);
			return hold;
		}
		finally {
			this.prefetched.settle(hold != null);
		}
	}

	/**
	 * A call that gives up the lease of a predecessor asks for one lock only.
	 */
	@Override
	AcquireResult ask(QueuedRequest queued, String currentOwner, Moment sent) {
		return (queued.predecessor() == null && this.prefetched.join()) ? this.prefetched.ask(this, queued, sent)
				: super.ask(queued, currentOwner, sent);
	}

}
