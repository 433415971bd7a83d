package io.dlock.engine.lease;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;

/**
 * Keeps locks in the store for the rest of their {@code minHold} after their release. The
 * store keeps the lock from the release on, so that it outlives this process and is not
 * shown as held. This process ends the lock in time, so that the first request that waits
 * for it is signalled; the store ends it a little later. In a store that cannot keep a
 * lock, a lease that would end too early is extended, and one that would end too late is
 * given up by owner when the time is over.
 */
public final class MinHoldEnforcer {

	private static final Log logger = LogFactory.getLog(MinHoldEnforcer.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(100);

	/** The store ends a kept lock this much later than this process. */
	private static final Duration STORE_DELAY = Duration.ofMillis(500);

	private final LockStore store;

	private final MachineClock clock;

	private final Revoker revoker;

	private final EngineThreads threads;

	public MinHoldEnforcer(LockStore store, MachineClock clock, Revoker revoker, EngineThreads threads) {
		this.store = store;
		this.clock = clock;
		this.revoker = revoker;
		this.threads = threads;
	}

	/**
	 * Keep a lock for the rest of its time.
	 * @param hold the lock, which is released or lost
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // null when closed: the lease ends it
	public void keep(Hold hold) {
		long nanos = hold.minHoldNanosLeft();
		if (!keepInStore(hold, false) || hold.lease().unanswered() != null) {
			this.threads.schedule(() -> giveUp(hold.lease()), nanos);
		}
	}

	/**
	 * Have the store keep the lock, until it answers or the time is over.
	 * @param hold the lock
	 * @param mayBeKept whether an earlier call had no answer: the store may have kept the
	 * lock, and then refuses to do so again
	 * @return whether the store ends the lock in time
	 */
	private boolean keepInStore(Hold hold, boolean mayBeKept) {
		long nanos = hold.minHoldNanosLeft();
		RenewResult result = (nanos > 0) ? keep(hold.lease(), nanos) : RenewResult.REFUSED;
		if (result == RenewResult.UNKNOWN) {
			this.threads.scheduleWork(() -> keepInStore(hold, true), PAUSE_AFTER_FAILURE.toNanos());
		}
		else if (result == RenewResult.RENEWED || mayBeKept) {
			this.threads.scheduleWork(() -> endKept(hold.lease()), Math.max(1, hold.minHoldNanosLeft()));
		}
		return result == RenewResult.RENEWED;
	}

	/**
	 * Call the store, on a thread that may have been interrupted.
	 */
	private RenewResult keep(Lease lease, long nanos) {
		boolean interrupted = Thread.interrupted();
		try {
			// the stores count milliseconds
			Duration rest = Duration.ofNanos(nanos).plusMillis(1);
			if (this.store.keep(lease.key(), lease.owner(), rest.plus(STORE_DELAY))) {
				return RenewResult.RENEWED;
			}
			return (lease.validNanosLeft() < nanos && renew(lease, rest) == RenewResult.UNKNOWN) ? RenewResult.UNKNOWN
					: RenewResult.REFUSED;
		}
		catch (Throwable ex) {
			logger.debug("Lock '" + StorageKey.of(lease.key()) + "' could not be kept for its minHold, will try again",
					ex);
			return RenewResult.UNKNOWN;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private RenewResult renew(Lease lease, Duration rest) {
		return this.store.renew(List.of(new RenewCommand(lease.key(), lease.owner(), rest))).get(0);
	}

	/**
	 * End a kept lock whose time is over. If this fails the store ends it, and processes
	 * that wait find the lock free with their next poll.
	 */
	private void endKept(Lease lease) {
		try {
			this.store.release(lease.key(), LockStore.keptOwner(lease.owner()));
		}
		catch (StoreException ex) {
			logger.debug(
					"Lock '" + StorageKey.of(lease.key()) + "' could not be ended after its minHold; the store ends it",
					ex);
		}
	}

	/**
	 * Give up a lease whose time is over. (One request more than those that were never
	 * answered, as when a lease ends.)
	 */
	private void giveUp(Lease lease) {
		UnansweredRequests unanswered = lease.unanswered();
		int requests = (unanswered != null) ? unanswered.requests() + 1 : 1;
		this.revoker.revoke(lease.key(), lease.owner(), new UnansweredRequests(requests, this.clock.now()),
				lease.length());
	}

}
