package io.dlock.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

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
		noticeInterrupt(null);
		Turn turn = this.registry.queues().join(key(), null);
		Lease lease = null;
		try {
			while (lease == null) {
				lease = step(turn);
				if (lease == null) {
					noticeInterrupt(null);
				}
			}
			return this.registry.deliver(new HeldLock(this.registry, lease));
		}
		finally {
			if (lease == null) {
				this.acquisition.abandon();
				turn.end();
			}
			if (this.interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Wait for the turn, or call the store once and pause.
	 */
	private @Nullable Lease step(Turn turn) {
		this.registry.failIfClosed(key());
		if (!turn.isFirst()) {
			if (this.acquisition.deadline().isOver()) {
				throw this.acquisition.giveUpInQueue(turn);
			}
			turn.park(this.acquisition.deadline().remainingNanos());
			return null;
		}
		Lease lease = this.acquisition.attempt(turn);
		if (lease != null) {
			return lease;
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
		turn.park(this.acquisition.pauseNanos());
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
