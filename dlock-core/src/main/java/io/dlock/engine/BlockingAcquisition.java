package io.dlock.engine;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockException;
import io.dlock.LockInterruptedException;
import io.dlock.LockStoreException;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.queue.QueueAnswer;
import io.dlock.engine.queue.QueuedRequest;

/**
 * Acquires a lock on the calling thread, which waits in the local queue and parks between
 * two calls to the store.
 */
final class BlockingAcquisition {

	/** The longest park while the first of the queue calls the store. */
	private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** About the time in which a store would have refused the lock. */
	private static final long REFUSAL_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

	private final Acquisition acquisition;

	private final boolean interruptible;

	private final RequestServices services;

	private boolean interrupted;

	/**
	 * The time for the answer was over when this request began, as a late key of a set.
	 */
	private boolean late;

	/** The rest of the wait time at the beginning of the time for the answer. */
	private long watchedFrom;

	BlockingAcquisition(Acquisition acquisition, boolean interruptible, RequestServices services) {
		this.acquisition = acquisition;
		this.interruptible = interruptible;
		this.services = services;
	}

	LeaseLockHandle run() {
		try {
			return acquire();
		}
		catch (LockBusyException | LockStoreException ex) {
			this.services.events().refused(this.acquisition.context(), ex);
			throw ex;
		}
	}

	private LeaseLockHandle acquire() {
		noticeInterrupt(null);
		this.late = isLate(this.acquisition.deadline().remainingNanos());
		QueuedRequest queued = this.services.queues().join(this.acquisition.context(), null);
		Hold hold = null;
		try {
			while (hold == null) {
				hold = step(queued);
				if (hold == null) {
					noticeInterrupt(null);
				}
			}
			return this.services.handles().deliver(hold, this.acquisition.deadline());
		}
		finally {
			if (hold == null) {
				this.acquisition.leave(queued);
			}
			if (this.interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Wait in the queue, or call the store once and pause.
	 */
	private @Nullable Hold step(QueuedRequest queued) {
		this.services.queues().failIfClosed(key());
		if (!queued.isFirst()) {
			waitInQueue(queued);
			return null;
		}
		Hold hold = this.acquisition.attempt(queued);
		if (hold != null) {
			return hold;
		}
		boolean overtaken = !queued.isFirst();
		LockException reason = overtaken ? this.acquisition.giveUpOvertaken() : this.acquisition.giveUp();
		if (reason instanceof LockStoreException && Thread.currentThread().isInterrupted()) {
			// the interrupt broke the call, not the store
			noticeInterrupt(reason);
			return null;
		}
		if (reason != null) {
			throw reason;
		}
		if (!overtaken) {
			queued.park(this.acquisition.pauseNanos(queued));
		}
		return null;
	}

	/**
	 * Wait until this is the first, or, when the wait time is over, for the answer that
	 * the first gets.
	 */
	private void waitInQueue(QueuedRequest queued) {
		long remaining = this.acquisition.deadline().remainingNanos();
		if (remaining > 0) {
			queued.park(remaining);
			return;
		}
		QueueAnswer answer = this.services.queues().stopWaiting(queued);
		if (answer != null) {
			leaveProcessorToHolder(answer, queued);
			throw this.acquisition.giveUp(answer);
		}
		if (isLate(remaining - this.watchedFrom)) {
			if (this.late || this.watchedFrom < 0) {
				throw this.acquisition.giveUpUnanswered();
			}
			// this process was paused: the time for the answer begins now
			this.watchedFrom = remaining;
		}
		if (!queued.isFirst()) {
			queued.park(ANSWER_NANOS);
		}
	}

	private boolean isLate(long remaining) {
		return remaining < -this.services.longestCallNanos();
	}

	/**
	 * A refusal inside the process would cost nothing, so that threads which try again
	 * and again would take the processor from the thread that holds the lock.
	 */
	private void leaveProcessorToHolder(QueueAnswer answer, QueuedRequest queued) {
		if (this.acquisition.deadline().isImmediate() && answer.here() != null) {
			queued.park(REFUSAL_NANOS);
		}
	}

	private void noticeInterrupt(@Nullable Throwable cause) {
		if (this.interruptible && Thread.currentThread().isInterrupted()) {
			throw new LockInterruptedException(key(), cause);
		}
		this.interrupted |= !this.interruptible && Thread.interrupted();
	}

	private String key() {
		return this.acquisition.context().key();
	}

}
