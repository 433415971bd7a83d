package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * The slots among the connections of the store's own pool. Each call needs a slot, and a
 * session that the database may still work for keeps the slot of its call.
 * <p>
 * A free slot goes to the thread that comes for it, until a thread has waited for a few
 * milliseconds. From then on slots are given in the order of arrival: a thread that takes
 * one lock after the other would otherwise keep the other threads waiting. Strict
 * ordering would make every thread park before each call once there is one thread too
 * many.
 */
final class ConnectionSlots {

	private static final long LONG_WAIT = Duration.ofMillis(5).toNanos();

	private final Semaphore renewals = new Semaphore(1);

	private final Semaphore others;

	private final AtomicInteger waitingLong = new AtomicInteger();

	private final int size;

	private final Duration timeout;

	private volatile long answered = System.nanoTime();

	/**
	 * Create the slots.
	 * @param size the number of slots, one of which is for renewals only
	 * @param timeout the time that a call may take
	 */
	ConnectionSlots(int size, Duration timeout) {
		this.size = size - 1;
		this.others = new Semaphore(this.size, true);
		this.timeout = timeout;
	}

	/**
	 * Wait for a slot: for the command timeout if the database answers, and for half of
	 * it otherwise. A time without calls does not count as silence of the database.
	 * @param renewal whether this is a renewal, for which a slot is reserved
	 * @throws StoreCongestedException if the database answers and there is none
	 * @throws StoreException if there is none because the database does not answer
	 */
	Slot enter(boolean renewal) {
		if (renewal && this.renewals.tryAcquire()) {
			return new Slot(this.renewals, this);
		}
		if (this.others.availablePermits() == this.size) {
			this.answered = System.nanoTime();
		}
		long patience = isAnswering() ? this.timeout.toNanos() : this.timeout.toNanos() / 2;
		try {
			if (await(patience)) {
				return new Slot(this.others, this);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreException(Effect.NONE, false, "Interrupted while waiting for a lock connection", ex);
		}
		if (isAnswering()) {
			throw new StoreCongestedException(
					"No lock connection became free within " + this.timeout.toMillis()
							+ " ms: too many locks at once, or too few connections for them (dlock.jdbc.pool-size)",
					null);
		}
		throw new StoreException(Effect.NONE, false, "The database has answered no call for " + this.timeout.toMillis()
				+ " ms, and all lock connections wait", null);
	}

	private boolean await(long nanos) throws InterruptedException {
		if (this.waitingLong.get() == 0 && !Thread.currentThread().isInterrupted() && this.others.tryAcquire()) {
			return true;
		}
		if (this.others.tryAcquire(Math.min(LONG_WAIT, nanos), TimeUnit.NANOSECONDS)) {
			return true;
		}
		this.waitingLong.incrementAndGet();
		try {
			return this.others.tryAcquire(nanos - LONG_WAIT, TimeUnit.NANOSECONDS);
		}
		finally {
			this.waitingLong.decrementAndGet();
		}
	}

	/**
	 * The number of threads that are not overtaken any more.
	 */
	int waitingLong() {
		return this.waitingLong.get();
	}

	/**
	 * A call may take the command timeout, so that only a longer silence counts.
	 */
	private boolean isAnswering() {
		return System.nanoTime() - this.answered < this.timeout.toNanos();
	}

	/**
	 * A slot, which is given back when it is closed unless it is kept.
	 */
	static final class Slot implements AutoCloseable {

		private final Semaphore slots;

		private final @Nullable ConnectionSlots all;

		private boolean kept;

		private Slot(Semaphore slots, @Nullable ConnectionSlots all) {
			this.slots = slots;
			this.all = all;
		}

		/**
		 * A slot among connections that are not counted.
		 */
		static Slot uncounted() {
			return new Slot(new Semaphore(0), null);
		}

		/**
		 * Note that the database has answered the call.
		 */
		void answered() {
			if (this.all != null) {
				this.all.answered = System.nanoTime();
			}
		}

		/**
		 * Keep the slot after the call, until it is given back.
		 */
		void keep() {
			this.kept = true;
		}

		void giveBack() {
			this.slots.release();
		}

		@Override
		public void close() {
			if (!this.kept) {
				giveBack();
			}
		}

	}

}
