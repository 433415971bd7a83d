package io.dlock.engine;

import java.util.concurrent.CompletableFuture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.ReleaseMode;
import io.dlock.store.LockStore;
import io.dlock.store.StorageKey;

/**
 * Ends leases: passes them on inside the process, or releases them in the store.
 */
final class LeaseReleaser implements LocalQueues.Leftovers {

	private static final Log logger = LogFactory.getLog(LeaseReleaser.class);

	private final LockStore store;

	private final LeaseKeeper keeper;

	private final Revoker revoker;

	private final EngineThreads threads;

	private final ReleaseMode mode;

	private final MinHolds minHolds;

	LeaseReleaser(LockStore store, LeaseKeeper keeper, Revoker revoker, EngineThreads threads, ReleaseMode mode) {
		this.store = store;
		this.keeper = keeper;
		this.revoker = revoker;
		this.threads = threads;
		this.mode = mode;
		this.minHolds = new MinHolds(store, keeper.clock(), revoker, threads);
	}

	/**
	 * Release a lock: to the next of this process, or else in the store.
	 * @param hold the lock, which is released or lost
	 * @param mayBePassedOn whether it was held up to now and others may have it
	 */
	void release(Hold hold, boolean mayBePassedOn) {
		Turn turn = hold.turn();
		Lease lease = hold.lease();
		if (hold.minNanosLeft() > 0) {
			keepTaken(hold);
			return;
		}
		if (mayBePassedOn && turn.endAndPass(lease)) {
			return;
		}
		endOf(lease);
		boolean sent = false;
		try {
			sent = mayBePassedOn && this.mode == ReleaseMode.ASYNC && isSent(lease);
		}
		finally {
			if (sent) {
				turn.end();
			}
			else {
				// a request that comes while the release is on its way is sent after it
				releaseAnd(turn::end, lease, turn::end);
			}
		}
	}

	/**
	 * Nobody holds the lock any more, but nobody is to have it yet.
	 */
	private void keepTaken(Hold hold) {
		this.keeper.remove(hold.lease());
		try {
			this.minHolds.keep(hold);
		}
		finally {
			hold.turn().end();
		}
	}

	/**
	 * Release a lock that was just declared lost because the registry stops.
	 * @param lease the lease
	 * @param limit when to leave the store alone: what is left ends with its lease
	 */
	void takeAway(Lease lease, Deadline limit) {
		Hold hold = lease.holder();
		if (hold.minNanosLeft() > 0) {
			if (!limit.isOver()) {
				this.minHolds.keep(hold);
			}
			return;
		}
		endOf(lease);
		if (!limit.isOver()) {
			releaseInStore(lease, LeaseReleaser::nothing);
		}
	}

	/**
	 * As {@link #release}, but another thread waits for the store.
	 * @param hold the lock, which is released or lost
	 * @param mayBePassedOn whether it was held up to now and others may have it
	 * @return completes when it is released
	 */
	CompletableFuture<@Nullable Void> releaseAsync(Hold hold, boolean mayBePassedOn) {
		Turn turn = hold.turn();
		Lease lease = hold.lease();
		CompletableFuture<@Nullable Void> released = new CompletableFuture<>();
		if (mayBePassedOn && hold.minNanosLeft() <= 0 && turn.endAndPass(lease)) {
			released.complete(null);
			return released;
		}
		Runnable work = () -> {
			try {
				release(hold, mayBePassedOn);
			}
			finally {
				this.threads.callback(() -> released.complete(null));
			}
		};
		if (!this.threads.releaseSoon(work)) {
			work.run();
		}
		return released;
	}

	/**
	 * Some stores release without a thread that waits for the answer.
	 */
	private boolean isSent(Lease lease) {
		try {
			return this.store.releaseAsync(lease.key(), lease.owner(), (ex) -> failed(lease, ex));
		}
		catch (RuntimeException ex) {
			failed(lease, ex);
			return true;
		}
	}

	private void failed(Lease lease, RuntimeException ex) {
		logger.debug("The release of lock '" + StorageKey.of(lease.key()) + "' failed and will be repeated", ex);
		revoke(lease);
	}

	private void releaseAnd(Runnable then, Lease lease, Runnable onSent) {
		boolean interrupted = Thread.interrupted();
		try {
			releaseInStore(lease, onSent);
		}
		finally {
			then.run();
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public void giveBack(Lease lease, boolean inBackground, Runnable then) {
		if (!inBackground) {
			releaseAnd(then, lease, LeaseReleaser::nothing);
		}
		else if (!this.threads.releaseSoon(() -> releaseAnd(then, lease, LeaseReleaser::nothing))) {
			revoke(lease);
			then.run();
		}
	}

	/**
	 * Release a lease in the store, or see to it that it is. That the store finds nothing
	 * to release is no news while the lease is valid: the driver may have sent the
	 * request twice. Whether a lock is lost, the deadline and the renewal tell.
	 * @param lease the lease
	 * @param onSent called when the request is on its way, if the store can tell
	 */
	private void releaseInStore(Lease lease, Runnable onSent) {
		try {
			this.store.release(lease.key(), lease.owner(), onSent);
		}
		catch (RuntimeException ex) {
			failed(lease, ex);
		}
	}

	private static void nothing() {
	}

	/**
	 * A lease is not held any more: it is not renewed, and what was sent for it and never
	 * answered must not take effect later. (One request more than those: the lease itself
	 * may be what the first revocation finds.)
	 */
	@Override
	public void endOf(Lease lease) {
		Unresolved unresolved = lease.unresolved();
		if (unresolved != null) {
			this.revoker.revoke(lease.key(), lease.owner(),
					new Unresolved(unresolved.requests() + 1, unresolved.lastSent()), lease.length());
		}
		this.keeper.remove(lease);
	}

	private void revoke(Lease lease) {
		this.revoker.revoke(lease.key(), lease.owner(), new Unresolved(1, lease.lastSent()), lease.length());
	}

}
