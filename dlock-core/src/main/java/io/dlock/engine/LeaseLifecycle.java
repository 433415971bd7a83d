package io.dlock.engine;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LossType;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.engine.lease.HoldDetails;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.lease.SharedLease;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.StorageKey;

/**
 * Begins leases and holds, and ends them when they are lost.
 */
final class LeaseLifecycle implements Hold.LossListener {

	private static final Log logger = LogFactory.getLog(LeaseLifecycle.class);

	private final LockSettings settings;

	private final MachineClock clock;

	private final LocalQueues queues;

	private final LeaseRenewer renewer;

	private final LockEvents events;

	private final EngineThreads threads;

	LeaseLifecycle(LockSettings settings, MachineClock clock, LocalQueues queues, LeaseRenewer renewer,
			LockEvents events, EngineThreads threads) {
		this.settings = settings;
		this.clock = clock;
		this.queues = queues;
		this.renewer = renewer;
		this.events = events;
		this.threads = threads;
	}

	Lease create(Lease.Grant grant) {
		return grant.context().terms().isShared() ? new SharedLease(grant, this.clock, this)
				: new Lease(grant, this.clock, this);
	}

	/**
	 * Begin to renew and watch a lease.
	 */
	void keep(Lease lease) {
		try {
			this.renewer.add(lease);
		}
		catch (Throwable ex) {
			this.renewer.remove(lease);
			throw ex;
		}
	}

	/**
	 * Begin the hold of a request: granted by the store, or passed on by its predecessor.
	 * @param queued the request, the first of its queue
	 */
	void begin(QueuedRequest queued, Hold hold) {
		this.queues.granted(queued, hold);
		begin(hold);
	}

	/**
	 * Begin the hold of a request that has left its queue or was in none. A reader may
	 * begin long after the lease that it shares.
	 */
	void begin(Hold hold) {
		LockRequest request = hold.context().request();
		Duration maxHold = this.settings.maxHoldOf(request);
		if (maxHold != null || request.minHold() != null || hold.context().terms().isShared()
				|| this.events.hasListeners()) {
			hold.details(new HoldDetails(request, maxHold, this.clock));
		}
	}

	/**
	 * End a lease that the store does not know any more.
	 */
	void lose(Lease lease) {
		this.renewer.lose(lease, new Loss(LossType.REFUSED, "it expired in the store or was taken away there"));
	}

	/**
	 * The key is free for other processes, and so for the next request of this one.
	 */
	@Override
	public void onEnd(Hold last) {
		if (!last.lease().isMember() && last.isReleased()) {
			this.queues.leave(last);
		}
	}

	@Override
	public void onLoss(Hold hold, Loss loss) {
		List<Runnable> listeners = this.renewer.removeLost(hold);
		if (!hold.lease().isMember()) {
			// the request of a member has left its queue, or still waits and asks again
			this.queues.leave(hold);
		}
		listeners.forEach(this.threads::notifyListener);
		this.events.lost(hold, loss);
		if (hold.lease().isNews(loss)) {
			logger
				.warn("Lock '%s' (token %s) was lost after %s ms: %s. Others may take it; check what was done under it"
					.formatted(StorageKey.of(hold.key()), hold.token(), hold.age().toMillis(), loss.reason()));
		}
	}

}
