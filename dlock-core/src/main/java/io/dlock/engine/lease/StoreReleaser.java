package io.dlock.engine.lease;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.ReleaseResult;
import io.dlock.store.StorageKey;

/**
 * Ends leases and releases them in the store. A release that fails is repeated by the
 * {@link Revoker}.
 */
public final class StoreReleaser {

	private static final Log logger = LogFactory.getLog(StoreReleaser.class);

	private final LockStore store;

	private final LeaseRenewer renewer;

	private final Revoker revoker;

	private final EngineThreads threads;

	/** Shared locks and permits, whose requests have left their queues. */
	private final Set<Lease> ending = ConcurrentHashMap.newKeySet();

	public StoreReleaser(LockStore store, LeaseRenewer renewer, Revoker revoker, EngineThreads threads) {
		this.store = store;
		this.renewer = renewer;
		this.revoker = revoker;
		this.threads = threads;
	}

	/**
	 * Stop renewing and watching a lease that is not passed on.
	 * <p>
	 * A request of this lease that was never answered must not take effect later. It is
	 * revoked once more than there are such requests, because the first revocation may
	 * find the lease itself.
	 */
	public void end(Lease lease) {
		ending(lease);
		UnansweredRequests unanswered = lease.unanswered();
		if (unanswered != null) {
			this.revoker.revoke(lease.key(), lease.owner(),
					new UnansweredRequests(unanswered.requests() + 1, unanswered.lastSent()), lease.length());
		}
		this.renewer.remove(lease);
	}

	/**
	 * Note that a lease is about to be released, before its renewal stops. The request of
	 * an exclusive lock keeps its place in the local queue meanwhile.
	 * @param lease the lease
	 */
	public void ending(Lease lease) {
		if (lease.isMember()) {
			this.ending.add(lease);
		}
	}

	public void ended(Lease lease) {
		if (lease.isMember()) {
			this.ending.remove(lease);
		}
	}

	/**
	 * Whether the release of a shared lock or a permit is under way.
	 */
	public boolean isEnding() {
		return !this.ending.isEmpty();
	}

	/**
	 * Release a lease in the store, or have it revoked. The store may find nothing to
	 * release because the driver has sent the request twice: that is no loss. The
	 * deadline and the renewals decide about losses.
	 * @param lease the lease, which has ended
	 */
	public void release(Lease lease) {
		release(lease, StoreReleaser::nothing);
	}

	private void release(Lease lease, Runnable onSent) {
		try {
			this.store.release(lease.key(), lease.owner(), onSent);
		}
		catch (Throwable ex) {
			failed(lease, ex);
			throwIfError(ex);
		}
		finally {
			ended(lease);
		}
	}

	/**
	 * Release a lease in the store even if the calling thread is interrupted.
	 * @param lease the lease, which has ended
	 * @param onSent called when the release is on its way, if the store can tell
	 * @param then the action after the release
	 */
	public void releaseUninterruptibly(Lease lease, Runnable onSent, Runnable then) {
		uninterruptibly(() -> release(lease, onSent), then);
	}

	/**
	 * Release leases in the store together, even if the calling thread is interrupted.
	 * @param leases the leases, which have ended
	 * @param then the action after the release
	 */
	public void releaseUninterruptibly(List<Lease> leases, Runnable then) {
		uninterruptibly(() -> release(leases), then);
	}

	private void release(List<Lease> leases) {
		try {
			List<ReleaseResult> results = this.store
				.releaseAll(leases.stream().map((lease) -> new ReleaseCommand(lease.key(), lease.owner())).toList());
			for (int i = 0; i < leases.size(); i++) {
				if (results.get(i) == ReleaseResult.UNKNOWN) {
					failed(leases.get(i), null);
				}
			}
		}
		catch (Throwable ex) {
			leases.forEach((lease) -> failed(lease, ex));
			throwIfError(ex);
		}
		finally {
			leases.forEach(this::ended);
		}
	}

	private static void uninterruptibly(Runnable release, Runnable then) {
		boolean interrupted = Thread.interrupted();
		try {
			release.run();
		}
		finally {
			then.run();
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Send the release of a lease to the store without a wait for the answer.
	 * @param lease the lease, which has ended
	 * @return {@code false} if the store cannot do that
	 */
	public boolean send(Lease lease) {
		boolean sent = true;
		try {
			sent = this.store.releaseAsync(lease.key(), lease.owner(), (ex) -> failed(lease, ex));
		}
		catch (Throwable ex) {
			failed(lease, ex);
			throwIfError(ex);
		}
		if (sent) {
			ended(lease);
		}
		return sent;
	}

	/**
	 * Release a lease in the store that no request takes over.
	 * @param lease the lease, which has ended
	 * @param inBackground whether the calling thread must not wait for the store
	 * @param then the action after the release
	 */
	public void giveBack(Lease lease, boolean inBackground, Runnable then) {
		if (!inBackground) {
			releaseUninterruptibly(lease, StoreReleaser::nothing, then);
		}
		else if (!this.threads.tryExecuteRelease(() -> releaseUninterruptibly(lease, StoreReleaser::nothing, then))) {
			revoke(lease);
			ended(lease);
			then.run();
		}
	}

	private static void nothing() {
	}

	private void failed(Lease lease, @Nullable Throwable ex) {
		logger.debug("The release of lock '" + StorageKey.of(lease.key()) + "' failed and will be repeated", ex);
		revoke(lease);
	}

	/**
	 * The caller learns of an error of its process, such as a lack of memory. No other
	 * failure concerns it: its work was done under the lock.
	 */
	private static void throwIfError(Throwable ex) {
		if (ex instanceof Error error) {
			throw error;
		}
	}

	private void revoke(Lease lease) {
		this.revoker.revoke(lease.key(), lease.owner(), new UnansweredRequests(1, lease.lastSent()), lease.length());
	}

}
