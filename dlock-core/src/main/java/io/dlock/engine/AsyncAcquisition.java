package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockRegistryClosedException;
import io.dlock.engine.concurrent.AsyncTimeout;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.queue.QueueAnswer;
import io.dlock.engine.queue.QueuedRequest;

/**
 * Acquires a lock without a waiting thread. A worker calls the store. The timer resumes
 * the request after a pause, and ends it at its deadline, even if the workers or the
 * store are blocked. A call that is under way then leaves the queue when it returns.
 */
final class AsyncAcquisition {

	private static final long PAUSE_WITHOUT_THREAD = Duration.ofMillis(100).toNanos();

	private final Acquisition acquisition;

	private final RequestServices services;

	private final AsyncTimeout timeout;

	private final CompletableFuture<LockHandle> future = new CompletableFuture<>();

	/** The thread that moves the request from waiting to trying owns it. */
	private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.TRYING);

	/** A signal has come since the last look. */
	private volatile boolean signalled;

	private volatile @Nullable QueuedRequest queued;

	private volatile @Nullable Future<?> alarm;

	AsyncAcquisition(Acquisition acquisition, RequestServices services) {
		this.acquisition = acquisition;
		this.services = services;
		this.timeout = new AsyncTimeout(services.threads(), this::expire);
	}

	@SuppressWarnings("FutureReturnValueIgnored") // a caller cancels this future
	CompletableFuture<LockHandle> start() {
		this.queued = this.services.queues().join(this.acquisition.context(), this::signal);
		this.phase.set(Phase.WAITING);
		this.future.whenComplete((handle, ex) -> onCompletion());
		try {
			this.timeout.set(this.acquisition.deadline(), this.services.settings().commandTimeout());
			work();
		}
		catch (OutOfMemoryError ex) {
			giveUp(ex);
		}
		return this.future;
	}

	/**
	 * Resume, because this is the first of the queue now, the store has signalled an
	 * available lock or the registry stops. The signal is kept until the next attempt: it
	 * may come during an attempt, before the pause.
	 */
	private void signal() {
		this.signalled = true;
		resume();
	}

	/**
	 * Go on at a signal or after a pause. Without a thread this is tried again, because
	 * the caller does not wait.
	 */
	private void resume() {
		try {
			work();
		}
		catch (OutOfMemoryError ex) {
			if (this.services.threads().schedule(this::resume, PAUSE_WITHOUT_THREAD) == null) {
				giveUp(ex);
			}
		}
	}

	private void work() {
		if (!this.services.threads().executeWork(this::run)) {
			giveUp(new LockRegistryClosedException(this.acquisition.context().key()));
		}
	}

	private void giveUp(Throwable reason) {
		if (this.phase.compareAndSet(Phase.WAITING, Phase.DONE)) {
			fail(reason);
		}
	}

	/**
	 * End the request: now, or when the call under way is answered.
	 * @return the phase up to now
	 */
	private Phase end() {
		return this.phase.getAndUpdate((current) -> switch (current) {
			case WAITING -> Phase.DONE;
			case TRYING -> Phase.ABANDONED;
			default -> current;
		});
	}

	/**
	 * End the request because its time is over and no answer has come.
	 */
	private void expire() {
		QueuedRequest current = this.queued;
		QueueAnswer answer = (current != null) ? this.services.queues().latestAnswer(current) : null;
		LockException reason = (answer != null) ? this.acquisition.giveUp(answer) : this.acquisition.giveUpUnanswered();
		Phase before = end();
		try {
			if (before == Phase.WAITING) {
				leave();
			}
		}
		finally {
			if (before == Phase.WAITING || before == Phase.TRYING) {
				tell(reason);
			}
		}
	}

	/**
	 * The future was completed, by this request or by a caller that gave up.
	 */
	private void onCompletion() {
		cancel(this.alarm);
		this.timeout.cancel();
		if (end() == Phase.WAITING) {
			leave();
		}
	}

	private void run() {
		QueuedRequest current = this.queued;
		if (current == null || !this.phase.compareAndSet(Phase.WAITING, Phase.TRYING)) {
			return;
		}
		this.timeout.begin();
		this.signalled = false;
		cancel(this.alarm);
		try {
			attempt(current);
		}
		catch (Throwable ex) {
			if (this.phase.getAndSet(Phase.DONE) == Phase.TRYING) {
				fail(ex);
			}
			else {
				leave();
			}
		}
	}

	private void attempt(QueuedRequest current) {
		this.services.queues().failIfClosed(this.acquisition.context().key());
		if (!current.isFirst()) {
			waitInQueue(current);
			return;
		}
		Hold hold = this.acquisition.attempt(current);
		if (hold != null) {
			if (this.phase.getAndSet(Phase.DONE) == Phase.ABANDONED) {
				this.services.handles().discard(hold);
			}
			else {
				deliverSoon(hold);
			}
			return;
		}
		boolean overtaken = !current.isFirst();
		LockException reason = overtaken ? this.acquisition.giveUpOvertaken() : this.acquisition.giveUp();
		if (reason != null) {
			throw reason;
		}
		if (overtaken) {
			waitInQueue(current);
			return;
		}
		pause(this.acquisition.pauseNanos(current));
	}

	/**
	 * Wait until this is the first, or, when the wait time is over, for the answer that
	 * the first gets.
	 */
	private void waitInQueue(QueuedRequest current) {
		long remaining = this.acquisition.deadline().remainingNanos();
		if (remaining > 0) {
			pause(remaining);
			return;
		}
		QueueAnswer answer = this.services.queues().stopWaiting(current);
		if (answer != null) {
			throw this.acquisition.giveUp(answer);
		}
		waitForSignal();
	}

	/**
	 * Wait for the alarm or a signal. The alarm is set before the phase changes, as long
	 * as no other thread can set or cancel it. An alarm that rings at once is a signal.
	 */
	private void pause(long nanos) {
		this.alarm = this.services.threads().schedule(this::signal, nanos);
		if (this.alarm == null) {
			this.signalled = true;
		}
		waitForSignal();
	}

	private void waitForSignal() {
		if (!this.phase.compareAndSet(Phase.TRYING, Phase.WAITING)) {
			cancel(this.alarm);
			leave();
		}
		else if (this.signalled) {
			resume();
		}
	}

	private static void cancel(@Nullable Future<?> scheduled) {
		if (scheduled != null) {
			scheduled.cancel(false);
		}
	}

	private void deliverSoon(Hold hold) {
		try {
			this.services.threads().executeCallback(() -> deliver(hold));
		}
		catch (Throwable ex) {
			this.services.handles().discardAfter(ex, hold);
			this.future.completeExceptionally(ex);
		}
	}

	private void deliver(Hold hold) {
		try {
			LeaseLockHandle handle = this.services.handles().deliver(hold, this.acquisition.deadline());
			if (!this.future.complete(handle)) {
				handle.releaseUnused();
			}
		}
		catch (Throwable ex) {
			this.future.completeExceptionally(ex);
		}
	}

	private void fail(Throwable reason) {
		try {
			leave();
		}
		finally {
			this.services.threads().executeCallback(() -> tell(reason));
		}
	}

	private void tell(Throwable reason) {
		try {
			this.services.events().refused(this.acquisition.context(), reason);
		}
		finally {
			this.future.completeExceptionally(reason);
		}
	}

	private void leave() {
		QueuedRequest current = this.queued;
		if (current != null) {
			this.acquisition.leave(current);
		}
	}

	/**
	 * Where the request is. {@link AsyncAcquisition#run} moves it from waiting to trying,
	 * and the attempt moves it back or ends it. Any other thread may end it meanwhile: at
	 * once if it waits, and otherwise when the attempt returns.
	 */
	private enum Phase {

		/** No thread works on the request: a signal or the alarm resumes it. */
		WAITING,

		/** A worker calls the store. */
		TRYING,

		/**
		 * A worker calls the store, but the future is complete: a grant is given back.
		 */
		ABANDONED,

		/** The request has left its queue, or is about to. */
		DONE

	}

}
