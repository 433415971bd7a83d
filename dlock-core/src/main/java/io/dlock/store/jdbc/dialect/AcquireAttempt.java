package io.dlock.store.jdbc.dialect;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import io.dlock.store.AcquireResult;
import io.dlock.store.StoredLock;
import io.dlock.store.WaitingQueue;

/**
 * The answer of the database to an attempt to take a key.
 */
sealed interface AcquireAttempt {

	/** The key was held a moment ago, and is not now. */
	AcquireAttempt FREE = new Free();

	/**
	 * The owner holds the key.
	 *
	 * @param token its token
	 */
	record Granted(long token) implements AcquireAttempt {

	}

	/**
	 * Another owner holds the key, or it is reserved for another process, or it became
	 * free a moment ago.
	 *
	 * @param remainingMicros the rest of the lease
	 * @param owner the owner
	 * @param queueLength the length of the queue as text
	 * @param queuePosition the position in that text of the entry that was asked for,
	 * from 1, or 0
	 * @param lock the lock, for people
	 */
	record Held(long remainingMicros, String owner, int queueLength, int queuePosition,
			StoredLock lock) implements AcquireAttempt {

		/**
		 * Whether the entry can join the queue.
		 */
		boolean hasRoom() {
			return this.queueLength < WaitingQueue.FULL && !isQueued();
		}

		boolean isQueued() {
			return this.queuePosition > 0;
		}

		boolean lasts() {
			return this.remainingMicros > 0;
		}

		/**
		 * Whether the key is free, reserved or kept.
		 */
		private boolean hasNoHolder() {
			return this.owner.isEmpty() || this.owner.startsWith(">") || this.owner.startsWith("~");
		}

		AcquireResult.Refused refusal(boolean queueing) {
			return new AcquireResult.Refused(Duration.of(Math.max(0, this.remainingMicros), ChronoUnit.MICROS),
					hasNoHolder() ? null : this.lock,
					WaitingQueue.place(this.queuePosition - 1, this.queueLength, queueing));
		}

	}

	/**
	 * There is no such key.
	 */
	record Free() implements AcquireAttempt {

	}

}
