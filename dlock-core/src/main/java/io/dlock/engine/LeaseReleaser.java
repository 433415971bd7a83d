package io.dlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.dlock.LockEvent;
import io.dlock.LockLostException;
import io.dlock.LossType;
import io.dlock.ReleaseMode;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.lease.MinHoldEnforcer;
import io.dlock.engine.lease.StoreReleaser;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.MemberQueues;

/**
 * Passes a lock on to the next request of this process, or else releases it in the store.
 */
final class LeaseReleaser {

	private static final Loss SHUTDOWN = new Loss(LossType.SHUTDOWN, "the application shut down while it was held");

	private final LocalQueues queues;

	private final MemberQueues members;

	private final StoreReleaser store;

	private final LeaseRenewer renewer;

	private final MinHoldEnforcer minHolds;

	private final LockEvents events;

	private final EngineThreads threads;

	private final ReleaseMode mode;

	LeaseReleaser(LocalQueues queues, MemberQueues members, StoreReleaser store, LeaseRenewer renewer,
			MinHoldEnforcer minHolds, LockEvents events, EngineThreads threads, ReleaseMode mode) {
		this.queues = queues;
		this.members = members;
		this.store = store;
		this.renewer = renewer;
		this.minHolds = minHolds;
		this.events = events;
		this.threads = threads;
		this.mode = mode;
	}

	/**
	 * Release a lock whose last handle is closed.
	 * @param hold the lock
	 * @throws LockLostException if the lock has been lost
	 */
	void release(Hold hold) {
		boolean held = hold.beginRelease();
		LockEvent event = held ? this.events.release(hold) : null;
		try {
			leave(hold, held && this.queues.isOpen());
		}
		finally {
			this.events.tell(event);
		}
		if (!held) {
			throw hold.lostException();
		}
	}

	/**
	 * Release the handles of a set, in the reverse order, with one call to the store for
	 * the locks that no request of this process takes over.
	 * @param handles each ends a handle and returns its hold, or {@code null} if other
	 * handles keep it or the handle was ended before
	 * @throws LockLostException if a lock has been lost; further ones are suppressed
	 */
	void releaseAll(List<Supplier<@Nullable Hold>> handles) {
		List<Throwable> failures = new ArrayList<>();
		List<LockEvent> told = new ArrayList<>();
		List<Hold> left = new ArrayList<>();
		for (int i = handles.size() - 1; i >= 0; i--) {
			try {
				Hold hold = handles.get(i).get();
				if (hold != null) {
					releaseOfSet(hold, told, left);
				}
			}
			catch (RuntimeException | Error ex) {
				failures.add(ex);
			}
		}
		try {
			releaseTogether(left);
		}
		finally {
			told.forEach(this.events::tell);
		}
		if (!failures.isEmpty()) {
			throwAll(failures);
		}
	}

	private static void throwAll(List<Throwable> failures) {
		Throwable first = failures.get(0);
		failures.stream().filter((each) -> each != first).forEach(first::addSuppressed);
		if (first instanceof Error error) {
			throw error;
		}
		throw (RuntimeException) first;
	}

	private void releaseOfSet(Hold hold, List<LockEvent> told, List<Hold> left) {
		boolean held = hold.beginRelease();
		LockEvent event = held ? this.events.release(hold) : null;
		if (event != null) {
			told.add(event);
		}
		boolean mayBePassedOn = held && this.queues.isOpen();
		if (hold.lease().leave(hold) && !keepOrPassOn(hold, mayBePassedOn)) {
			if (this.mode == ReleaseMode.ASYNC) {
				releaseInStore(hold, mayBePassedOn);
			}
			else {
				left.add(hold);
			}
		}
		if (!held) {
			throw hold.lostException();
		}
	}

	private void releaseTogether(List<Hold> holds) {
		if (holds.size() == 1) {
			releaseInStore(holds.get(0), false);
		}
		else if (!holds.isEmpty()) {
			List<Lease> leases = holds.stream().map(Hold::lease).toList();
			leases.forEach(this.store::end);
			this.store.releaseUninterruptibly(leases, () -> holds.forEach(this::leaveQueue));
		}
	}

	/**
	 * Release a lock whose last handle is closed, without waiting for the store.
	 * @param hold the lock
	 * @return completes when the lock is released, with the loss if it has been lost
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // the caller gets another one
	CompletableFuture<@Nullable Void> releaseAsync(Hold hold) {
		boolean held = hold.beginRelease();
		LockEvent event = held ? this.events.release(hold) : null;
		CompletableFuture<@Nullable Void> released = leaveAsync(hold, held && this.queues.isOpen());
		// a future of its own: the caller may complete the one that it gets
		CompletableFuture<@Nullable Void> told = new CompletableFuture<>();
		released.whenComplete((done, ex) -> {
			Throwable failure = held ? ex : hold.lostException();
			try {
				this.events.tell(event);
			}
			catch (Throwable thrown) {
				failure = thrown;
			}
			if (failure != null) {
				told.completeExceptionally(failure);
			}
			else {
				told.complete(null);
			}
		});
		return told;
	}

	private void leave(Hold hold, boolean mayBePassedOn) {
		if (hold.lease().leave(hold)) {
			passOnOrRelease(hold, mayBePassedOn);
		}
	}

	private void passOnOrRelease(Hold hold, boolean mayBePassedOn) {
		if (!keepOrPassOn(hold, mayBePassedOn)) {
			releaseInStore(hold, mayBePassedOn);
		}
	}

	/**
	 * Keep the lease for the rest of its {@code minHold}, or give it to the next request
	 * of this process.
	 * @return {@code false} if it has to be released in the store
	 */
	private boolean keepOrPassOn(Hold hold, boolean mayBePassedOn) {
		if (hold.minHoldNanosLeft() > 0) {
			keepForMinHold(hold);
			return true;
		}
		return mayBePassedOn && pass(hold);
	}

	private void releaseInStore(Hold hold, boolean maySend) {
		Lease lease = hold.lease();
		this.store.end(lease);
		boolean sent = false;
		try {
			sent = maySend && this.mode == ReleaseMode.ASYNC && this.store.send(lease);
		}
		finally {
			if (sent) {
				leaveQueue(hold);
			}
			else {
				// a request that comes while the release is on its way is sent after it
				Runnable leave = () -> leaveQueue(hold);
				this.store.releaseUninterruptibly(lease, leave, leave);
			}
		}
	}

	private boolean pass(Hold hold) {
		return hold.lease().isMember() ? this.members.pass(hold) : this.queues.pass(hold);
	}

	/**
	 * Let the next request of this process ask the store.
	 */
	private void leaveQueue(Hold hold) {
		if (hold.lease().isMember()) {
			this.members.released(hold);
		}
		else {
			this.queues.leave(hold);
		}
	}

	private CompletableFuture<@Nullable Void> leaveAsync(Hold hold, boolean mayBePassedOn) {
		CompletableFuture<@Nullable Void> released = new CompletableFuture<>();
		if (!hold.lease().leave(hold) || (mayBePassedOn && hold.minHoldNanosLeft() <= 0 && pass(hold))) {
			released.complete(null);
			return released;
		}
		Runnable end = this.queues.releasing(hold);
		Runnable work = () -> {
			try {
				passOnOrRelease(hold, mayBePassedOn);
			}
			finally {
				end.run();
				this.threads.executeCallback(() -> released.complete(null));
			}
		};
		if (!this.threads.tryExecuteRelease(work)) {
			work.run();
		}
		return released;
	}

	private void keepForMinHold(Hold hold) {
		this.store.ending(hold.lease());
		this.renewer.remove(hold.lease());
		try {
			this.minHolds.keep(hold);
		}
		finally {
			this.store.ended(hold.lease());
			this.queues.leave(hold);
		}
	}

	/**
	 * Whether no lock is held or being released, and no request waits.
	 */
	boolean isIdle() {
		return this.queues.isEmpty() && this.renewer.size() == 0 && !this.store.isEnding()
				&& this.queues.releases().isEmpty();
	}

	/**
	 * Take locks away because the registry stops. Holders are told first: a lock that is
	 * being released must not look held.
	 * @param limit the end of the time for calls to the store; locks that are not
	 * released by then end with their leases
	 */
	void takeAway(List<Lease> leases, Deadline limit) {
		List<Lease> lost = leases.stream().filter((lease) -> this.renewer.lose(lease, SHUTDOWN)).toList();
		this.threads.inParallel(lost.stream().<Runnable>map((lease) -> () -> releaseLost(lease, limit)).toList(),
				limit);
	}

	private void releaseLost(Lease lease, Deadline limit) {
		Hold hold = lease.holder();
		if (hold.minHoldNanosLeft() > 0) {
			if (!limit.isOver()) {
				this.minHolds.keep(hold);
			}
			return;
		}
		this.store.end(lease);
		if (!limit.isOver()) {
			this.store.release(lease);
		}
	}

}
