package io.dlock.engine;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;

/**
 * Keeps locks in the store for a while after their release. The store is told at the
 * release, so that a process that ends takes nothing with it and the lock is not shown as
 * held. This process ends the lock at the end of its time, so that the first who waits
 * for it is called; the store ends it a little later. A store that cannot keep a lock is
 * told only if the lease would end too early; a lease that would end too late is given up
 * by owner when the time is over.
 */
final class MinHolds {

	private static final Log logger = LogFactory.getLog(MinHolds.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(100);

	/** The time within which to end a kept lock before the store does. */
	private static final Duration PASS_ON = Duration.ofMillis(500);

	private final LockStore store;

	private final MachineClock clock;

	private final Revoker revoker;

	private final EngineThreads threads;

	MinHolds(LockStore store, MachineClock clock, Revoker revoker, EngineThreads threads) {
		this.store = store;
		this.clock = clock;
		this.revoker = revoker;
		this.threads = threads;
	}

	/**
	 * Keep a lock for the rest of its time.
	 * @param hold the lock, which is released or lost
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // null when closed: left to the lease
	void keep(Hold hold) {
		long nanos = hold.minNanosLeft();
		if (!tellStore(hold) || hold.lease().unresolved() != null) {
			this.threads.schedule(() -> giveUp(hold.lease()), nanos);
		}
	}

	/**
	 * Tell the store, until it answers or the time is over.
	 * @return whether the lock ends in time by itself
	 */
	private boolean tellStore(Hold hold) {
		long nanos = hold.minNanosLeft();
		if (nanos <= 0) {
			return false;
		}
		RenewResult result = keep(hold.lease(), nanos);
		if (result == RenewResult.UNKNOWN) {
			this.threads.workLater(() -> tellStore(hold), PAUSE_AFTER_FAILURE.toNanos());
		}
		else if (result == RenewResult.RENEWED) {
			this.threads.workLater(() -> passOn(hold.lease()), Math.max(1, hold.minNanosLeft()));
		}
		return result == RenewResult.RENEWED;
	}

	/**
	 * Ask the store, on a thread that may have been interrupted.
	 */
	private RenewResult keep(Lease lease, long nanos) {
		boolean interrupted = Thread.interrupted();
		try {
			// the stores count milliseconds
			Duration rest = Duration.ofNanos(nanos).plusMillis(1);
			if (this.store.keep(lease.key(), lease.owner(), rest.plus(PASS_ON))) {
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
	 * The time of a kept lock is over. Without an answer it ends by itself, and a process
	 * that waits finds that when it looks.
	 */
	private void passOn(Lease lease) {
		try {
			this.store.release(lease.key(), LockStore.keptOwner(lease.owner()));
		}
		catch (StoreException ex) {
			logger.debug("Lock '" + StorageKey.of(lease.key()) + "' was not passed on and ends by itself", ex);
		}
	}

	/**
	 * The time is over. (One request more than those that were never answered, as when a
	 * lease ends.)
	 */
	private void giveUp(Lease lease) {
		Unresolved unresolved = lease.unresolved();
		int requests = (unresolved != null) ? unresolved.requests() + 1 : 1;
		this.revoker.revoke(lease.key(), lease.owner(), new Unresolved(requests, this.clock.now()), lease.length());
	}

}
