package io.dlock.engine;

import java.time.Duration;

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

	private final LeaseLockRegistry registry;

	private final Acquisition acquisition;

	private final boolean interruptible;

	private boolean interrupted;

	BlockingAcquisition(LockRequest request, Duration waitTime, boolean interruptible, LeaseLockRegistry registry) {
		this.registry = registry;
		this.acquisition = new Acquisition(request, waitTime, registry);
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
				turn.end();
				this.acquisition.abandon();
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
			if (this.acquisition.deadline().isOver()) {
				throw this.acquisition.giveUpInQueue(turn);
			}
			turn.park(this.acquisition.deadline().remainingNanos());
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
