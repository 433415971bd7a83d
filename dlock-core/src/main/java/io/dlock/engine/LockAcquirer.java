package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;

/**
 * The entrance of requests: a nested handle for a holder, and otherwise an acquisition.
 */
final class LockAcquirer {

	private final LockSettings settings;

	private final MachineClock clock;

	private final LocalQueues queues;

	private final StoreAcquirer store;

	private final LeaseLifecycle leases;

	private final Revoker revoker;

	private final LeaseLockHandles handles;

	private final LockEvents events;

	private final EngineThreads threads;

	LockAcquirer(LockSettings settings, MachineClock clock, LocalQueues queues, StoreAcquirer store,
			LeaseLifecycle leases, Revoker revoker, LeaseLockHandles handles, LockEvents events,
			EngineThreads threads) {
		this.settings = settings;
		this.clock = clock;
		this.queues = queues;
		this.store = store;
		this.leases = leases;
		this.revoker = revoker;
		this.handles = handles;
		this.events = events;
		this.threads = threads;
	}

	/**
	 * The end of the wait of a request that begins to wait now.
	 * @param request the request
	 * @return the deadline
	 */
	Deadline deadline(LockRequest request) {
		return Deadline.after(this.clock, this.settings.waitTimeOf(request));
	}

	LeaseLockHandle acquire(LockRequest request) {
		return acquire(request, deadline(request), true);
	}

	/**
	 * Acquire a lock on the calling thread.
	 * @param request the request
	 * @param waitTime how long to wait
	 * @param interruptible whether an interrupt ends the wait, or is kept for later
	 * @return the handle, bound to the calling thread
	 */
	LeaseLockHandle acquire(LockRequest request, Duration waitTime, boolean interruptible) {
		return acquire(request, Deadline.after(this.clock, waitTime), interruptible);
	}

	/**
	 * Acquire a lock on the calling thread.
	 * @param request the request
	 * @param deadline the end of the wait; a request that is late asks once
	 * @param interruptible whether an interrupt ends the wait, or is kept for later
	 * @return the handle, bound to the calling thread
	 */
	LeaseLockHandle acquire(LockRequest request, Deadline deadline, boolean interruptible) {
		this.settings.validate(request);
		LeaseLockHandle handle = this.handles.nested(request);
		if (handle == null) {
			handle = new BlockingAcquisition(acquisition(request, deadline), interruptible, this.queues, this.handles,
					this.events, this.settings.commandTimeout())
				.run();
		}
		return handle.bindToThread();
	}

	CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		return acquireAsync(request, deadline(request));
	}

	/**
	 * Acquire a lock without a thread.
	 * @param request the request
	 * @param deadline the end of the wait; a request that is late asks once
	 * @return the handle to come
	 */
	CompletableFuture<LockHandle> acquireAsync(LockRequest request, Deadline deadline) {
		this.settings.validate(request);
		return new AsyncAcquisition(acquisition(request, deadline), this.queues, this.handles, this.events,
				this.threads, this.settings.commandTimeout())
			.start();
	}

	CompletableFuture<LockHandle> acquireAsync(LockRequest request, LockHandle outer) {
		this.settings.validate(request);
		try {
			LeaseLockHandle handle = this.handles.nested(request, outer);
			return (handle != null) ? CompletableFuture.completedFuture(handle) : acquireAsync(request);
		}
		catch (LockLostException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private Acquisition acquisition(LockRequest request, Deadline deadline) {
		return new Acquisition(new AcquireContext(request, deadline, this.settings), this.queues, this.store,
				this.leases, this.revoker, this.clock, this.settings.maxPollInterval());
	}

}
