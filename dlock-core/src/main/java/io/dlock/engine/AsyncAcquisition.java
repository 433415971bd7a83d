package io.dlock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockRequest;

/**
 * Acquires a lock without a waiting thread: a worker calls the store, the timer wakes it.
 */
final class AsyncAcquisition {

	private final LeaseLockRegistry registry;

	private final Acquisition acquisition;

	private final CompletableFuture<LockHandle> future = new CompletableFuture<>();

	/** Who moves it from waiting to something else has the request for itself. */
	private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.WAITING);

	private final Turn turn;

	private volatile @Nullable Future<?> alarm;

	AsyncAcquisition(LockRequest request, LeaseLockRegistry registry) {
		this.registry = registry;
		this.acquisition = new Acquisition(request, registry.settings().waitTimeOf(request), registry);
		this.turn = registry.queues().join(request.key(), this::workOnIt);
	}

	@SuppressWarnings("FutureReturnValueIgnored") // it is this future that a caller
													// cancels
	CompletableFuture<LockHandle> start() {
		this.future.whenComplete((handle, ex) -> onCompletion());
		if (this.turn.isFirst() || !this.registry.isRunning()) {
			workOnIt();
		}
		else if (this.phase.compareAndSet(Phase.WAITING, Phase.TRYING)) {
			waitForTheTurn();
		}
		return this.future;
	}

	private void workOnIt() {
		this.registry.threads().work(this::run);
	}

	private void setAlarm(Runnable task, long delayNanos) {
		cancelAlarm();
		this.alarm = this.registry.threads().schedule(task, delayNanos);
	}

	private void cancelAlarm() {
		Future<?> current = this.alarm;
		if (current != null) {
			current.cancel(false);
		}
	}

	/**
	 * The wait ended while others of this process were before us.
	 */
	private void onWaitOver() {
		if (!this.turn.isFirst() && this.phase.compareAndSet(Phase.WAITING, Phase.DONE)) {
			fail(this.acquisition.giveUpInQueue(this.turn));
		}
	}

	/**
	 * The future was completed: by us, or by a caller who gave up.
	 */
	private void onCompletion() {
		cancelAlarm();
		if (this.phase.compareAndSet(Phase.WAITING, Phase.DONE)) {
			leave();
		}
	}

	private void run() {
		if (!this.phase.compareAndSet(Phase.WAITING, Phase.TRYING)) {
			return;
		}
		cancelAlarm();
		try {
			this.registry.failIfClosed(this.acquisition.request().key());
			if (!this.turn.isFirst()) {
				waitForTheTurn();
				return;
			}
			Lease lease = this.acquisition.attempt(this.turn);
			if (lease != null) {
				this.phase.set(Phase.DONE);
				deliver(new HeldLock(this.registry, lease));
				return;
			}
			LockException reason = this.acquisition.giveUp();
			if (reason != null) {
				throw reason;
			}
			pause(this::workOnIt, this.acquisition.pauseNanos());
		}
		catch (Throwable ex) {
			this.phase.set(Phase.DONE);
			fail(ex);
		}
	}

	private void waitForTheTurn() {
		pause(this::onWaitOver, this.acquisition.deadline().remainingNanos());
		if (this.turn.isFirst()) {
			workOnIt();
		}
	}

	/**
	 * Wait for the alarm or a signal. The phase comes first: an alarm that rings at once
	 * would otherwise find nobody waiting.
	 */
	private void pause(Runnable next, long nanos) {
		this.phase.set(Phase.WAITING);
		setAlarm(next, nanos);
		if (this.future.isDone()) {
			onCompletion();
		}
	}

	private void deliver(HeldLock handle) {
		if (!this.future.complete(this.registry.deliver(handle))) {
			handle.release();
		}
	}

	private void fail(Throwable reason) {
		leave();
		this.future.completeExceptionally(reason);
	}

	private void leave() {
		this.acquisition.abandon();
		this.turn.end();
	}

	private enum Phase {

		WAITING, TRYING, DONE

	}

}
