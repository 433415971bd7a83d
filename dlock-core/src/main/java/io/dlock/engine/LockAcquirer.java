package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;

/**
 * Entry point for acquire requests: a holder gets a nested handle, any other caller
 * starts an acquisition.
 */
final class LockAcquirer {

	private final RequestServices services;

	/** No prefetched locks. */
	private final PrefetchedLocks alone;

	LockAcquirer(RequestServices services) {
		this.services = services;
		this.alone = new PrefetchedLocks(List.of(), services);
	}

	/**
	 * The end of the wait of a request that begins to wait now.
	 */
	Deadline deadline(LockRequest request) {
		return Deadline.after(this.services.clock(), this.services.settings().waitTimeOf(request));
	}

	LeaseLockHandle acquire(LockRequest request) {
		return acquire(request, deadline(request), true);
	}

	/**
	 * Acquire a lock on the calling thread.
	 * @param waitTime how long to wait
	 * @param interruptible whether an interrupt ends the wait, or is kept for later
	 * @return the handle, bound to the calling thread
	 */
	LeaseLockHandle acquire(LockRequest request, Duration waitTime, boolean interruptible) {
		return acquire(request, Deadline.after(this.services.clock(), waitTime), interruptible);
	}

	/**
	 * Acquire a lock on the calling thread.
	 * @param deadline the end of the wait; a request that is late asks once
	 * @param interruptible whether an interrupt ends the wait, or is kept for later
	 * @return the handle, bound to the calling thread
	 */
	LeaseLockHandle acquire(LockRequest request, Deadline deadline, boolean interruptible) {
		return acquire(request, deadline, interruptible, this.alone);
	}

	/**
	 * As {@link #acquire(LockRequest, Deadline, boolean)}, together with others if the
	 * store is asked at once.
	 */
	LeaseLockHandle acquire(LockRequest request, Deadline deadline, boolean interruptible, PrefetchedLocks prefetched) {
		validate(request);
		LeaseLockHandle handle = this.services.handles().nested(request);
		if (handle == null) {
			if (deadline.isUnlimited() && !request.reentrant()) {
				this.services.handles().failIfWaitsForItself(request);
			}
			handle = acquire(context(request, deadline), interruptible, prefetched);
		}
		return handle.bindToThread();
	}

	/**
	 * The locks that are requested together with the one before them.
	 * @param requests the requests, in the order of their storage keys, each of which the
	 * caller does not hold
	 * @param deadline the end of the wait
	 * @return the prefetched locks, which are none if the store cannot do that
	 */
	PrefetchedLocks prefetched(List<LockRequest> requests, Deadline deadline) {
		if (requests.isEmpty() || requests.get(0).mode() == LockMode.SHARED
				|| !this.services.store().supportsBatches()) {
			return this.alone;
		}
		return new PrefetchedLocks(requests.stream().map((request) -> acquisition(context(request, deadline))).toList(),
				this.services);
	}

	/**
	 * Take a permit on the calling thread.
	 * @param limit how many permits may be held at once
	 * @return the handle, bound to the calling thread
	 */
	LeaseLockHandle acquirePermit(LockRequest request, int limit) {
		return acquire(permitContext(request, limit), true, this.alone).bindToThread();
	}

	CompletableFuture<LockHandle> acquirePermitAsync(LockRequest request, int limit) {
		return acquireAsync(permitContext(request, limit), this.alone);
	}

	/**
	 * Check that a request for a permit can be honoured.
	 * @param limit how many permits may be held at once
	 * @throws IllegalArgumentException if it cannot
	 */
	void validatePermit(LockRequest request, int limit) {
		permits().validate(request, limit);
	}

	private AcquireContext permitContext(LockRequest request, int limit) {
		return permits().context(request, limit, deadline(request));
	}

	private Permits permits() {
		return new Permits(this.services.settings(), this.services.store());
	}

	private LeaseLockHandle acquire(AcquireContext context, boolean interruptible, PrefetchedLocks prefetched) {
		LeaseLockHandle handle = join(context);
		return (handle != null) ? handle
				: new BlockingAcquisition(acquisition(context, prefetched), interruptible, this.services).run();
	}

	/**
	 * Share the lease of this process, unless the store has to be asked.
	 */
	private @Nullable LeaseLockHandle join(AcquireContext context) {
		if (!context.terms().isShared()) {
			return null;
		}
		this.services.queues().failIfClosed(context.key());
		Hold hold = this.services.shared().join(context, this.services.queues().isQueued(context.storageKey()));
		if (hold == null) {
			return null;
		}
		try {
			this.services.leases().begin(hold);
			return this.services.handles().deliver(hold, context.deadline());
		}
		catch (Throwable ex) {
			this.services.members().giveBack(hold, true);
			throw ex;
		}
	}

	/**
	 * Check that a request can be honoured.
	 * @throws IllegalArgumentException if it cannot
	 */
	void validate(LockRequest request) {
		this.services.settings().validate(request);
		if (request.mode() == LockMode.SHARED && !this.services.store().supportsMembers()) {
			throw new IllegalArgumentException(
					"Lock '%s' cannot be shared, because the store has exclusive locks only (%s). Use LockMode.EXCLUSIVE or another store"
						.formatted(StorageKey.of(request.key()), this.services.store().describe()));
		}
		if (isFair(request) && !this.services.store().supportsFairLocks()) {
			throw new IllegalArgumentException(
					"Lock '%s' cannot be fair, because the store has no fair locks (%s). Leave out fair or use another store"
						.formatted(StorageKey.of(request.key()), this.services.store().describe()));
		}
	}

	private boolean isFair(LockRequest request) {
		return this.services.settings().isFair(request) && request.mode() == LockMode.EXCLUSIVE;
	}

	CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		return acquireAsync(request, deadline(request));
	}

	/**
	 * Acquire a lock without a thread.
	 * @param deadline the end of the wait; a request that is late asks once
	 * @return the handle to come
	 */
	CompletableFuture<LockHandle> acquireAsync(LockRequest request, Deadline deadline) {
		return acquireAsync(request, deadline, this.alone);
	}

	/**
	 * As {@link #acquireAsync(LockRequest, Deadline)}, together with others if the store
	 * is asked at once.
	 */
	CompletableFuture<LockHandle> acquireAsync(LockRequest request, Deadline deadline, PrefetchedLocks prefetched) {
		validate(request);
		return acquireAsync(context(request, deadline), prefetched);
	}

	private CompletableFuture<LockHandle> acquireAsync(AcquireContext context, PrefetchedLocks prefetched) {
		LeaseLockHandle handle;
		try {
			handle = join(context);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		return (handle != null) ? CompletableFuture.completedFuture(handle)
				: new AsyncAcquisition(acquisition(context, prefetched), this.services).start();
	}

	CompletableFuture<LockHandle> acquireAsync(LockRequest request, LockHandle outer) {
		return acquireAsync(request, deadline(request), outer);
	}

	/**
	 * Acquire a lock without a thread.
	 * @param deadline the end of the wait; a request that is late asks once
	 * @param outer a handle that the caller holds, of this key or another
	 * @return the handle to come
	 */
	CompletableFuture<LockHandle> acquireAsync(LockRequest request, Deadline deadline, LockHandle outer) {
		validate(request);
		try {
			LeaseLockHandle handle = this.services.handles().nested(request, outer);
			return (handle != null) ? CompletableFuture.completedFuture(handle) : acquireAsync(request, deadline);
		}
		catch (LockLostException | IllegalStateException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	AcquireContext context(LockRequest request, Deadline deadline) {
		return context(request, deadline, isFair(request) ? this.services.store().newAddress() : null);
	}

	AcquireContext context(LockRequest request, Deadline deadline, @Nullable MailboxAddress address) {
		return new AcquireContext(request, deadline, this.services.settings(), address);
	}

	Acquisition acquisition(AcquireContext context) {
		return context.terms().isMember() ? new MemberAcquisition(context, this.services)
				: new Acquisition(context, this.services);
	}

	private Acquisition acquisition(AcquireContext context, PrefetchedLocks prefetched) {
		return prefetched.isEmpty() ? acquisition(context) : new BatchAcquisition(context, this.services, prefetched);
	}

}
