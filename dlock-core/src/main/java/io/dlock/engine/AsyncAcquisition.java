package io.dlock.engine;

import java.time.Duration;
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
 * The timer also ends the request when its time is over, even if the workers or the store
 * are blocked; the call that is under way then ends what it has begun.
 */
final class AsyncAcquisition {

	/** The time beyond the wait time in which the store may answer the last call. */
	private static final Duration PATIENCE = Duration.ofMillis(100);

	/** The least time for the only call of a request that does not wait. */
	private static final Duration TRY_PATIENCE = Duration.ofSeconds(1);

	private static final long PAUSE_WITHOUT_THREAD = Duration.ofMillis(100).toNanos();

	private final LeaseLockRegistry registry;

	private final Acquisition acquisition;

	private final CompletableFuture<LockHandle> future = new CompletableFuture<>();

	/** The request belongs to the thread that moves it from waiting to trying. */
	private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.TRYING);

	/** A signal has come since the last look. */
	private volatile boolean signalled;

	private volatile @Nullable Turn turn;

	private volatile @Nullable Future<?> alarm;

	private volatile @Nullable Future<?> limit;

	AsyncAcquisition(LockRequest request, LeaseLockRegistry registry) {
		this.registry = registry;
		this.acquisition = new Acquisition(request, registry.settings().waitTimeOf(request), registry);
	}

	@SuppressWarnings("FutureReturnValueIgnored") // it is this future that a caller
													// cancels
	CompletableFuture<LockHandle> start() {
		this.turn = this.registry.queues().join(this.acquisition, this::signal);
		this.phase.set(Phase.WAITING);
		this.future.whenComplete((handle, ex) -> onCompletion());
		try {
			setLimit();
			work();
		}
		catch (OutOfMemoryError ex) {
			giveUp(ex);
		}
		return this.future;
	}

	/**
	 * A request that does not wait asks once, and has the time of a call for that.
	 */
	private void setLimit() {
		Deadline deadline = this.acquisition.deadline();
		if (!deadline.isForever()) {
			long waitNanos = deadline.remainingNanos();
			Duration commandTimeout = this.registry.settings().commandTimeout();
			Duration tryPatience = (commandTimeout.compareTo(TRY_PATIENCE) > 0) ? commandTimeout : TRY_PATIENCE;
			Duration patience = (waitNanos > 0) ? PATIENCE : tryPatience;
			this.limit = this.registry.threads()
				.schedule(() -> this.registry.threads().callbackInTheEnd(this::endInTime),
						Math.max(0, waitNanos) + patience.toNanos());
			if (this.future.isDone()) {
				cancel(this.limit);
			}
		}
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
	 * Go on: at a signal or after a pause. Without a thread it is tried again: the caller
	 * has other things to do.
	 */
	private void workOnIt() {
		try {
			work();
		}
		catch (OutOfMemoryError ex) {
			if (this.registry.threads().schedule(this::workOnIt, PAUSE_WITHOUT_THREAD) == null) {
				giveUp(ex);
			}
		}
	}

	private void work() {
		if (!this.registry.threads().work(this::run)) {
			giveUp(new LockRegistryClosedException(this.acquisition.request().key()));
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
	 * The time is over, and no answer has come.
	 */
	private void endInTime() {
		Turn current = this.turn;
		Answer answer = (current != null) ? current.latestAnswer() : null;
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
	 * The future was completed: by us, or by a caller that gave up.
	 */
	private void onCompletion() {
		cancel(this.alarm);
		cancel(this.limit);
		if (end() == Phase.WAITING) {
			leave();
		}
	}

	private void run() {
		Turn current = this.turn;
		if (current == null || !this.phase.compareAndSet(Phase.WAITING, Phase.TRYING)) {
			return;
		}
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

	private void attempt(Turn current) {
		this.registry.failIfClosed(this.acquisition.request().key());
		if (!current.isFirst()) {
			waitInQueue(current);
			return;
		}
		Hold hold = this.acquisition.attempt(current);
		if (hold != null) {
			if (this.phase.getAndSet(Phase.DONE) == Phase.ABANDONED) {
				new HeldLock(this.registry, hold).releaseUnused();
			}
			else {
				this.registry.threads().callback(() -> deliver(hold));
			}
			return;
		}
		LockException reason = this.acquisition.giveUp();
		if (reason != null) {
			throw reason;
		}
		pause(this.acquisition.pauseNanos(current));
	}

	/**
	 * Wait until this is the first, or for the answer that the first gets once the wait
	 * time is over.
	 */
	private void waitInQueue(Turn current) {
		long remaining = this.acquisition.deadline().remainingNanos();
		if (remaining > 0) {
			pause(remaining);
			return;
		}
		Answer answer = current.stopWaiting();
		if (answer != null) {
			throw this.acquisition.giveUp(answer);
		}
		if (current.isFirst()) {
			this.signalled = true;
		}
		waitForSignal();
	}

	/**
	 * Wait for the alarm or a signal. The alarm comes first, as long as no other thread
	 * can set or cancel it. Should it ring at once, that is a signal.
	 */
	private void pause(long nanos) {
		this.alarm = this.registry.threads().schedule(this::signal, nanos);
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
			workOnIt();
		}
	}

	private static void cancel(@Nullable Future<?> scheduled) {
		if (scheduled != null) {
			scheduled.cancel(false);
		}
	}

	private void deliver(Hold hold) {
		try {
			HeldLock handle = this.registry.deliver(hold, this.acquisition.deadline());
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
			this.registry.threads().callback(() -> tell(reason));
		}
	}

	private void tell(Throwable reason) {
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
			this.acquisition.leave(current);
		}
	}

	/**
	 * Waiting for a signal, being worked on, being worked on although the future is
	 * complete, or over.
	 */
	private enum Phase {

		WAITING, TRYING, ABANDONED, DONE

	}

}
