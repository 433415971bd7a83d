package io.dlock.engine;

import java.time.Duration;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;

/**
 * Keeps locks in the store for a while after their release. The store is told at the
 * release if the lease would end too early, so that a process that ends takes nothing
 * with it; what would end too late is given up by owner when the time is over.
 */
final class MinHolds {

	private static final Log logger = LogFactory.getLog(MinHolds.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(100);

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
		if (hold.lease().validNanosLeft() < nanos) {
			extend(hold);
		}
		this.threads.schedule(() -> giveUp(hold.lease()), nanos);
	}

	private void extend(Hold hold) {
		long nanos = hold.minNanosLeft();
		if (nanos > 0 && renew(hold.lease(), nanos) == RenewResult.UNKNOWN) {
			this.threads.workLater(() -> extend(hold), PAUSE_AFTER_FAILURE.toNanos());
		}
	}

	/**
	 * Ask the store, on a thread that may have been interrupted.
	 */
	private RenewResult renew(Lease lease, long nanos) {
		boolean interrupted = Thread.interrupted();
		try {
			// the stores count milliseconds
			Duration rest = Duration.ofNanos(nanos).plusMillis(1);
			return this.store.renew(List.of(new RenewCommand(lease.key(), lease.owner(), rest))).get(0);
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
