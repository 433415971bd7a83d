package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Ends an asynchronous request by the timer: at its deadline if it still waits for a
 * worker, and otherwise if the store does not answer in time. Each request has the time
 * of a call, also one that does not wait, and asks once.
 */
public final class AsyncTimeout {

	/** The time beyond the wait time in which the store may answer the last call. */
	private static final Duration GRACE = Duration.ofMillis(100);

	/** The least time for the only call of a request that does not wait. */
	private static final Duration TRY_GRACE = Duration.ofSeconds(1);

	private final EngineThreads threads;

	private final Runnable onEnd;

	private volatile boolean begun;

	private volatile boolean cancelled;

	/** Used by the timer only. */
	private boolean extended;

	private volatile @Nullable Future<?> scheduled;

	/**
	 * Create a timeout that is not set yet.
	 * @param threads the timer, and the threads for code of the application
	 * @param onEnd ends the request
	 */
	public AsyncTimeout(EngineThreads threads, Runnable onEnd) {
		this.threads = threads;
		this.onEnd = onEnd;
	}

	/**
	 * Set the timeout, unless the wait has no end.
	 * @param deadline the end of the wait
	 * @param commandTimeout how long a call to the store may take
	 */
	public void set(Deadline deadline, Duration commandTimeout) {
		if (!deadline.isUnlimited()) {
			long wait = Math.max(0, deadline.remainingNanos());
			long grace = graceNanos(deadline, commandTimeout.toNanos());
			schedule(deadline, Math.max(wait, grace), Math.min(wait, grace));
		}
	}

	/**
	 * The keys of a set that are requested after the wait time share the time of one
	 * call.
	 */
	private static long graceNanos(Deadline deadline, long commandTimeout) {
		long late = -deadline.remainingNanos();
		if (deadline.isImmediate()) {
			return Math.max(TRY_GRACE.toNanos(), commandTimeout);
		}
		return (late < 0) ? GRACE.toNanos() : Math.max(GRACE.toNanos(), commandTimeout - late);
	}

	/**
	 * A timer that is late says that this process was paused: the answer of the store may
	 * have come meanwhile, and has not been read. It has more time once.
	 */
	private void schedule(Deadline deadline, long nanos, long grace) {
		long due = deadline.elapsed().toNanos() + nanos;
		this.scheduled = this.threads.schedule(() -> {
			boolean late = !this.extended && deadline.elapsed().toNanos() - due > GRACE.toNanos();
			this.extended |= late;
			long more = late ? Math.max(grace, GRACE.toNanos()) : grace;
			if (this.begun && more > 0) {
				schedule(deadline, more, 0);
			}
			else {
				this.threads.executeTimerCallback(this.onEnd);
			}
		}, nanos);
		if (this.cancelled) {
			cancel();
		}
	}

	/**
	 * Note that a worker has begun with the request.
	 */
	public void begin() {
		this.begun = true;
	}

	public void cancel() {
		this.cancelled = true;
		Future<?> current = this.scheduled;
		if (current != null) {
			current.cancel(false);
		}
	}

}
