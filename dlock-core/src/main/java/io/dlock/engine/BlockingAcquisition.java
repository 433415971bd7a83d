package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockException;
import io.dlock.LockInterruptedException;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;

/**
 * Acquires a lock on the calling thread, which waits for its turn and parks between two
 * calls to the store.
 */
final class BlockingAcquisition {

	/** A little more than the first of the queue has for its call to the store. */
	private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** About the time in which a store would have refused the lock. */
	private static final long REFUSAL_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

	private final LeaseLockRegistry registry;

	private final Acquisition acquisition;

	private final Duration waitTime;

	private final boolean interruptible;

	private boolean interrupted;

	BlockingAcquisition(LockRequest request, Duration waitTime, boolean interruptible, LeaseLockRegistry registry) {
		this.registry = registry;
		this.acquisition = new Acquisition(request, waitTime, registry);
		this.waitTime = waitTime;
		this.interruptible = interruptible;
	}

	HeldLock run() {
		try {
			return acquire();
		}
		catch (LockBusyException | LockStoreException ex) {
			this.registry.events().refused(this.acquisition, ex);
			throw ex;
		}
	}

	private HeldLock acquire() {
		noticeInterrupt(null);
		Turn turn = this.registry.queues().join(this.acquisition, null);
		Hold hold = null;
		try {
			while (hold == null) {
				hold = step(turn);
				if (hold == null) {
					noticeInterrupt(null);
				}
			}
			return this.registry.deliver(hold, this.acquisition.deadline());
		}
		finally {
			if (hold == null) {
				this.acquisition.leave(turn);
			}
			if (this.interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Wait for the turn, or call the store once and pause.
	 */
	private @Nullable Hold step(Turn turn) {
		this.registry.failIfClosed(key());
		if (!turn.isFirst()) {
			waitInQueue(turn);
			return null;
		}
		Hold hold = this.acquisition.attempt(turn);
		if (hold != null) {
			return hold;
		}
		LockException reason = this.acquisition.giveUp();
		if (reason instanceof LockStoreException && Thread.currentThread().isInterrupted()) {
			// the interrupt broke the call, not the store
			noticeInterrupt(reason);
			return null;
		}
		if (reason != null) {
			throw reason;
		}
		turn.park(this.acquisition.pauseNanos(turn));
		return null;
	}

	/**
	 * Wait until this is the first, or for the answer that the first gets once the wait
	 * time is over.
	 */
	private void waitInQueue(Turn turn) {
		long remaining = this.acquisition.deadline().remainingNanos();
		if (remaining > 0) {
			turn.park(remaining);
			return;
		}
		if (remaining < -ANSWER_NANOS - 2 * this.registry.settings().commandTimeout().toNanos()) {
			throw this.acquisition.giveUpUnanswered();
		}
		Answer answer = turn.stopWaiting();
		if (answer != null) {
			leaveProcessorToHolder(answer, turn);
			throw this.acquisition.giveUp(answer);
		}
		if (!turn.isFirst()) {
			turn.park(ANSWER_NANOS);
		}
	}

	/**
	 * A refusal inside the process would cost nothing, so that threads which try again
	 * and again would take the processor from the thread that holds the lock.
	 */
	private void leaveProcessorToHolder(Answer answer, Turn turn) {
		if (this.waitTime.isZero() && answer.here() != null) {
			turn.park(REFUSAL_NANOS);
		}
	}

	private void noticeInterrupt(@Nullable Throwable cause) {
		if (this.interruptible && Thread.currentThread().isInterrupted()) {
			throw new LockInterruptedException(key(), cause);
		}
		this.interrupted |= !this.interruptible && Thread.interrupted();
	}

	private String key() {
		return this.acquisition.request().key();
	}

}
