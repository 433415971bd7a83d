package io.dlock.engine;

import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.store.StorageKey;

/**
 * Creates the handles of a registry and finds those of the calling thread.
 */
final class LeaseLockHandles {

	private final LocalQueues queues;

	private final LeaseReleaser releaser;

	private final LeaseRenewer renewer;

	private final LockEvents events;

	private final UnaryOperator<LeaseLockHandle> downgrade;

	LeaseLockHandles(LocalQueues queues, LeaseReleaser releaser, LeaseRenewer renewer, LockEvents events,
			UnaryOperator<LeaseLockHandle> downgrade) {
		this.queues = queues;
		this.releaser = releaser;
		this.renewer = renewer;
		this.events = events;
		this.downgrade = downgrade;
	}

	private LeaseLockHandle create(Hold hold, boolean shared) {
		return new LeaseLockHandle(hold, shared, this.releaser, this.renewer, this.downgrade);
	}

	private LeaseLockHandle create(Hold hold) {
		return create(hold, hold.context().terms().isShared());
	}

	/**
	 * Create the first handle of a lock and tell that it was acquired. A lock that was
	 * granted while the registry stopped would otherwise leak.
	 * @param hold the lock, of a lease that is watched already
	 * @param wait the wait for it
	 */
	LeaseLockHandle deliver(Hold hold, Deadline wait) {
		try {
			LeaseLockHandle handle = create(hold);
			this.events.acquired(hold, wait);
			this.queues.failIfClosed(hold.key());
			return handle;
		}
		catch (Throwable ex) {
			discardAfter(ex, hold);
			throw ex;
		}
	}

	/**
	 * As {@link #discard}, after a failure of which the caller is told.
	 */
	void discardAfter(Throwable failure, Hold hold) {
		try {
			discard(hold);
		}
		catch (LockLostException lost) {
			failure.addSuppressed(lost);
		}
	}

	/**
	 * Create a set of locks that are released together.
	 */
	LockSet set(List<LeaseLockHandle> granted) {
		List<LeaseLockHandle> all = List.copyOf(granted);
		return LockSet.of(all, () -> this.releaser
			.releaseAll(all.stream().<Supplier<@Nullable Hold>>map((handle) -> handle::endOfSet).toList()));
	}

	/**
	 * Release a lock whose handle is not given out.
	 * @param hold the lock
	 */
	void discard(Hold hold) {
		if (hold.drop()) {
			hold.waiveMinHold();
			this.releaser.release(hold);
		}
	}

	/**
	 * As {@link #discard}, without waiting for the store.
	 */
	void discardSoon(Hold hold) {
		create(hold).releaseUnusedSoon();
	}

	/**
	 * The handle by which the calling thread holds a key.
	 * @return the innermost handle, or {@code null} if there is none
	 */
	@Nullable LeaseLockHandle find(String key) {
		return (LeaseLockHandle) LockContext.find(key, this::isOpen);
	}

	/**
	 * The handle by which the calling thread holds a lock, and not a permit, in a mode.
	 * @param request the key and the mode
	 * @return the innermost handle, or {@code null} if there is none
	 */
	@Nullable LeaseLockHandle find(LockRequest request) {
		return (LeaseLockHandle) LockContext.find(request.key(),
				(handle) -> handle.mode() == request.mode() && isLock(handle));
	}

	/**
	 * Whether the calling thread has a valid handle of a lock. An inner one may be lost
	 * while an outer one of the same thread is valid.
	 */
	boolean isHeld(String key) {
		return LockContext.find(key, (handle) -> isLock(handle) && handle.isValid()) != null;
	}

	private boolean isOpen(LockHandle handle) {
		return owns(handle) && ((LeaseLockHandle) handle).isOpen();
	}

	/**
	 * Whether a handle holds a lock of this registry, and not a permit.
	 */
	boolean isLock(LockHandle handle) {
		return isOpen(handle) && !handle.isPermit();
	}

	boolean owns(LockHandle handle) {
		return handle instanceof LeaseLockHandle own && own.belongsTo(this.releaser);
	}

	/**
	 * Create another handle of a lock that the calling thread holds.
	 * @return the handle, or {@code null} if the thread does not hold the lock
	 * @throws LockLostException if the thread has lost the lock, since the caller
	 * believes to hold it
	 */
	@Nullable LeaseLockHandle nested(LockRequest request) {
		LeaseLockHandle outer = request.reentrant() ? find(request.key()) : null;
		return (outer != null) ? nested(outer, request.mode()) : null;
	}

	/**
	 * Refuse a request that would wait without end for the lock of its own thread.
	 * @param request the request, which waits without end
	 * @throws IllegalStateException if the thread holds the lock, which is renewed
	 */
	void failIfWaitsForItself(LockRequest request) {
		LeaseLockHandle own = (LeaseLockHandle) LockContext.find(request.key(),
				(handle) -> isLock(handle) && handle.isValid());
		if (own != null && own.hold().context().terms().renewed()
				&& (request.mode() == LockMode.EXCLUSIVE || !own.hold().lease().isMember())) {
			throw new IllegalStateException(
					"Lock '%s' is held by the calling thread, which would wait for itself without end: the request is not reentrant. Release the lock first, set a wait time or make the request reentrant"
						.formatted(StorageKey.of(request.key())));
		}
	}

	/**
	 * Create another handle of a lock.
	 * @param outer a handle of the lock, or of another one
	 * @return the handle, or {@code null} if {@code outer} does not hold the lock
	 * @throws LockLostException if {@code outer} has lost the lock
	 */
	@Nullable LeaseLockHandle nested(LockRequest request, LockHandle outer) {
		boolean holds = request.reentrant() && isOpen(outer) && outer.key().equals(request.key());
		return holds ? nested((LeaseLockHandle) outer, request.mode()) : null;
	}

	/**
	 * A shared handle in an exclusive lock shares it.
	 * @throws IllegalStateException if an exclusive handle is requested in a shared lock
	 * or with a permit of the key: it would wait for the caller
	 */
	private @Nullable LeaseLockHandle nested(LeaseLockHandle outer, LockMode mode) {
		if (outer.hold().lease().isMember()) {
			if (mode == LockMode.EXCLUSIVE) {
				if (outer.hold().isLost()) {
					throw outer.hold().lostException();
				}
				throw new IllegalStateException((outer.isPermit()
						? "Lock '%s' waits for all permits of its key: the caller holds one and would wait for itself. Release the permit first"
						: "Lock '%s' cannot be upgraded: the caller holds it shared and would wait for itself. Release it, and acquire it exclusively from the start")
					.formatted(StorageKey.of(outer.key())));
			}
			if (!outer.hold().context().terms().isShared()) {
				return null;
			}
		}
		if (outer.hold().retain()) {
			return create(outer.hold(), mode == LockMode.SHARED);
		}
		if (outer.hold().isLost()) {
			throw outer.hold().lostException();
		}
		return null;
	}

	/**
	 * The owner that the store knows the lock of a handle by.
	 * @return the owner, or {@code null} if the handle has been released or belongs to
	 * another registry
	 */
	@Nullable String ownerOf(LockHandle handle) {
		return isOpen(handle) ? ((LeaseLockHandle) handle).hold().lease().owner() : null;
	}

}
