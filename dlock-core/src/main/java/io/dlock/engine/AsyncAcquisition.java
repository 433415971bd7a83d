package io.dlock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;

/**
 * Acquires a lock without a waiting thread: a worker calls the store, the timer wakes it.
 */
final class AsyncAcquisition {

	private final LeaseLockRegistry registry;

	private final Acquisition acquisition;

	private final CompletableFuture<LockHandle> future = new CompletableFuture<>();

	/** Who moves it from waiting to something else has the request for itself. */
	private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.TRYING);

	/** Somebody woke it since it last looked. */
	private volatile boolean signalled;

	private volatile @Nullable Turn turn;

	private volatile @Nullable Future<?> alarm;

	AsyncAcquisition(LockRequest request, LeaseLockRegistry registry) {
		this.registry = registry;
		this.acquisition = new Acquisition(request, registry.settings().waitTimeOf(request), registry);
	}

	@SuppressWarnings("FutureReturnValueIgnored") // it is this future that a caller
													// cancels
	CompletableFuture<LockHandle> start() {
		this.future.whenComplete((handle, ex) -> onCompletion());
		this.turn = this.registry.queues().join(this.acquisition, this::signal);
		this.phase.set(Phase.WAITING);
		workOnIt();
		return this.future;
	}

	/**
	 * The turn has come, the store calls or the registry stops. Kept until the next look:
	 * it may come while the request is being tried, before it pauses.
	 */
	private void signal() {
		this.signalled = true;
		workOnIt();
	}

	/**
	 * Go on: at the start, at a signal or after a pause.
	 */
	private void workOnIt() {
		try {
			if (!this.registry.threads().work(this::run)) {
				giveUp(new LockRegistryClosedException(this.acquisition.request().key()));
			}
		}
		catch (OutOfMemoryError ex) {
			// who signals has other things to do, and the next in the queue may be able
			// to
			giveUp(ex);
		}
	}

	private void giveUp(Throwable reason) {
		if (this.phase.compareAndSet(Phase.WAITING, Phase.DONE)) {
			fail(reason);
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
		Turn current = this.turn;
		if (current == null || !this.phase.compareAndSet(Phase.WAITING, Phase.TRYING)) {
			return;
		}
		this.signalled = false;
		cancelAlarm();
		try {
			attempt(current);
		}
		catch (Throwable ex) {
			this.phase.set(Phase.DONE);
			fail(ex);
		}
	}

	private void attempt(Turn current) {
		this.registry.failIfClosed(this.acquisition.request().key());
		if (!current.isFirst()) {
			if (this.acquisition.deadline().isOver()) {
				throw this.acquisition.giveUpInQueue(current);
			}
			pause(this.acquisition.deadline().remainingNanos());
			return;
		}
		Hold hold = this.acquisition.attempt(current);
		if (hold != null) {
			this.phase.set(Phase.DONE);
			deliver(this.registry.deliver(hold, this.acquisition.deadline()));
			return;
		}
		LockException reason = this.acquisition.giveUp();
		if (reason != null) {
			throw reason;
		}
		pause(this.acquisition.pauseNanos(current));
	}

	/**
	 * Wait for the alarm or a signal. The alarm comes first, as long as nobody else can
	 * set or cancel it. Should it ring at once, that is a signal.
	 */
	private void pause(long nanos) {
		this.alarm = this.registry.threads().schedule(this::signal, nanos);
		this.phase.set(Phase.WAITING);
		if (this.future.isDone()) {
			onCompletion();
		}
		if (this.alarm == null || this.signalled) {
			workOnIt();
		}
	}

	private void cancelAlarm() {
		Future<?> current = this.alarm;
		if (current != null) {
			current.cancel(false);
		}
	}

	private void deliver(HeldLock handle) {
		if (!this.future.complete(handle)) {
			handle.releaseUnused();
		}
	}

	private void fail(Throwable reason) {
		leave();
		try {
			this.registry.events().refused(this.acquisition, reason);
		}
		finally {
			this.future.completeExceptionally(reason);
		}
	}

	private void leave() {
		Turn current = this.turn;
		if (current != null) {
			current.end();
		}
		this.acquisition.abandon();
	}

	private enum Phase {

		WAITING, TRYING, DONE

	}

}
