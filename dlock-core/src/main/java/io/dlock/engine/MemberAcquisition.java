package io.dlock.engine;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.SharedLease;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.engine.queue.StoreQueuePlaces;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;

/**
 * A request on its way to a shared lock or a permit. A reader joins the shared lease of
 * this process, if there is one; its first in the queue asks the store now and then
 * whether an exclusive request waits, for which newcomers have to wait in their turn.
 */
final class MemberAcquisition extends Acquisition {

	private final RequestServices services;

	private final StoreQueuePlaces places;

	MemberAcquisition(AcquireContext context, RequestServices services) {
		super(context, services);
		this.services = services;
		this.places = new StoreQueuePlaces(services.queues());
	}

	@Override
	@Nullable Hold attemptOnce(QueuedRequest queued) {
		Hold hold = this.services.members().claim(queued);
		if (hold == null && queued.isFirst() && queued.predecessor() == null) {
			hold = join(queued);
		}
		if (hold == null && queued.isFirst()) {
			Hold granted = attemptInStore(queued);
			if (granted != null) {
				return granted;
			}
			// passed on during the call, in which a driver may consume the signal
			hold = this.services.members().claim(queued);
		}
		if (hold != null) {
			begin(queued, hold);
		}
		return hold;
	}

	/**
	 * Join the shared lease of this process. The hold keeps the lease from its release as
	 * long as the store is asked.
	 */
	private @Nullable Hold join(QueuedRequest queued) {
		SharedLease lease = this.services.shared().find(context());
		Hold hold = (lease != null) ? lease.join(context()) : null;
		if (lease == null || hold == null) {
			return null;
		}
		boolean joined = false;
		try {
			if (!this.services.shared().isFresh(lease)) {
				ask(lease);
			}
			joined = this.services.shared().admits(lease) && hold.isValid();
		}
		finally {
			if (!joined) {
				this.services.members().giveBack(hold, queued.isAsynchronous());
			}
		}
		return joined ? hold : null;
	}

	private void ask(SharedLease lease) {
		Moment sent = this.services.clock().now();
		lease.renewing(sent);
		try {
			AcquireResult result = this.services.store().ask(context(), lease, sent);
			if (result instanceof AcquireResult.Granted granted
					&& granted.token() * Lease.TOKENS_PER_LEASE == lease.firstToken()) {
				lease.answered(sent, granted.awaited());
			}
			else {
				// a lease that began anew is released with the last hold
				this.services.leases().lose(lease);
			}
		}
		catch (Throwable ex) {
			lease.answered(sent, false);
			if (ex instanceof Error error) {
				throw error;
			}
		}
	}

	/**
	 * Begin a hold that this process had already. A call to the store that had no answer
	 * may have granted another.
	 */
	private void begin(QueuedRequest queued, Hold hold) {
		try {
			abandon();
			this.services.leases().begin(hold);
			this.services.members().granted(queued, hold);
			this.services.store().leaveStoreQueue(queued);
		}
		catch (Throwable ex) {
			this.services.members().giveBack(hold, queued.isAsynchronous());
			throw ex;
		}
	}

	/**
	 * The lease is renewed before readers join. Should it be revoked, they have lost it.
	 */
	@Override
	void begin(QueuedRequest queued, Lease lease, boolean awaited) {
		this.services.leases().begin(lease.holder());
		this.services.leases().keep(lease);
		try {
			this.places.set(queued, null);
			if (lease instanceof SharedLease opened) {
				opened.answered(lease.sent(), awaited);
				this.services.shared().open(opened, context());
			}
			this.services.members().granted(queued, lease.holder());
		}
		catch (Throwable ex) {
			this.services.leases().lose(lease);
			throw ex;
		}
	}

	@Override
	String newOwner() {
		return LockStore.memberOwner(super.newOwner());
	}

	@Override
	void leave(QueuedRequest queued) {
		super.leave(queued);
		this.services.members().leave(queued, mustNotWait(queued));
	}

}
