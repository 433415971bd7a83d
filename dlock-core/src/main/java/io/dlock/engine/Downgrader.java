package io.dlock.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockException;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.lease.StoreReleaser;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.StorageKey;

/**
 * Turns exclusive locks into shared ones. A request for the shared lock takes the first
 * place of the queue from the holder, and its only call to the store gives up the
 * exclusive lease in the same step. From before that call on, the exclusive lock is not
 * valid any more: the store may let readers in, even if its answer is lost.
 */
final class Downgrader {

	private final LockAcquirer acquirer;

	private final LocalQueues queues;

	private final StoreReleaser releaser;

	private final LeaseLockHandles handles;

	private final LockEvents events;

	private final MachineClock clock;

	Downgrader(LockAcquirer acquirer, LocalQueues queues, StoreReleaser releaser, LeaseLockHandles handles,
			LockEvents events, MachineClock clock) {
		this.acquirer = acquirer;
		this.queues = queues;
		this.releaser = releaser;
		this.handles = handles;
		this.events = events;
		this.clock = clock;
	}

	/**
	 * Downgrade the lock of a handle.
	 * @param handle the handle, the only one of its lock
	 * @return the handle of the shared lock
	 */
	LeaseLockHandle downgrade(LeaseLockHandle handle) {
		Hold hold = handle.hold();
		if (!hold.isValid()) {
			handle.release();
			handle.assertHeld();
		}
		LockRequest request = sharedRequest(hold);
		this.acquirer.validate(request);
		this.queues.failIfClosed(hold.key());
		if (!handle.endForDowngrade()) {
			throw refused(hold, "it has other handles, which need it exclusively");
		}
		LockEvent released = this.events.release(hold);
		if (!hold.beginRelease()) {
			this.releaser.end(hold.lease());
			this.releaser.release(hold.lease());
			throw hold.lostException();
		}
		AcquireContext context = this.acquirer.context(request, Deadline.after(this.clock, Duration.ZERO),
				hold.context().address());
		QueuedRequest queued = this.queues.replace(hold, context);
		boolean interrupted = Thread.interrupted();
		Hold shared = null;
		try {
			shared = acquire(queued, hold);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
			// not before the answer: the revocation of a late request would free the lock
			this.releaser.end(hold.lease());
			tell(released, shared);
		}
		if (hold.lease().isOver()) {
			// the answer does not prove that the exclusive lock lasted up to then
			this.handles.discard(shared);
			throw lost(hold);
		}
		return deliver(shared, context.deadline(), hold);
	}

	/**
	 * A registry that closes during the call takes the lock away: the exclusive one is
	 * gone by now.
	 */
	private LeaseLockHandle deliver(Hold shared, Deadline wait, Hold exclusive) {
		try {
			return this.handles.deliver(shared, wait);
		}
		catch (LockRegistryClosedException ex) {
			LockLostException lost = new LockLostException(exclusive.key(), exclusive.token(),
					"the registry was closed during its downgrade");
			lost.addSuppressed(ex);
			throw lost;
		}
	}

	private void tell(@Nullable LockEvent released, @Nullable Hold shared) {
		try {
			this.events.tell(released);
		}
		catch (Throwable ex) {
			if (shared != null) {
				this.handles.discard(shared);
			}
			throw ex;
		}
	}

	private static LockRequest sharedRequest(Hold hold) {
		if (hold.lease().isMember()) {
			throw refused(hold, "it is not exclusive");
		}
		if (hold.minHoldNanosLeft() > 0) {
			throw refused(hold, "its minHold is not over");
		}
		return hold.context().request().withMode(LockMode.SHARED);
	}

	private static IllegalStateException refused(Hold hold, String reason) {
		return new IllegalStateException(
				"Lock '%s' cannot be downgraded: %s".formatted(StorageKey.of(hold.key()), reason));
	}

	private Hold acquire(QueuedRequest queued, Hold exclusive) {
		Acquisition acquisition = this.acquirer.acquisition(queued.context());
		Hold shared = null;
		try {
			shared = acquisition.attempt(queued);
			if (shared == null) {
				throw reason(acquisition.giveUp(), exclusive);
			}
			return shared;
		}
		finally {
			if (shared == null) {
				acquisition.leave(queued);
			}
		}
	}

	/**
	 * A refusal says that another caller got the lock.
	 */
	private static LockException reason(@Nullable LockException reason, Hold exclusive) {
		return (reason == null || reason instanceof LockBusyException) ? lost(exclusive) : reason;
	}

	private static LockLostException lost(Hold exclusive) {
		return new LockLostException(exclusive.key(), exclusive.token(),
				"it expired in the store or was taken away there before its downgrade");
	}

}
