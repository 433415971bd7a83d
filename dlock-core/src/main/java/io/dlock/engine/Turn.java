package io.dlock.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StoreException;

/**
 * A place in the local queue of a key. Who is first may talk to the store and keeps the
 * place as long as the lease lasts.
 */
final class Turn {

	private final LocalQueues queues;

	private final String key;

	private final @Nullable Thread thread;

	private final @Nullable Runnable onSignal;

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile boolean first;

	private volatile @Nullable Outage outage;

	/**
	 * Create a place for a thread that waits, or for a callback.
	 * @param queues the queues
	 * @param key the key
	 * @param onSignal what to call when the place becomes the first or the registry
	 * closes, or {@code null} to wake the calling thread
	 */
	Turn(LocalQueues queues, String key, @Nullable Runnable onSignal) {
		this.queues = queues;
		this.key = key;
		this.onSignal = onSignal;
		this.thread = (onSignal == null) ? Thread.currentThread() : null;
	}

	String key() {
		return this.key;
	}

	boolean isFirst() {
		return this.first;
	}

	/**
	 * Make this place the first. Called under the lock of the queue; {@link #signal()}
	 * follows outside of it.
	 */
	void becomeFirst() {
		this.first = true;
	}

	/**
	 * Join the others of the queue, who share what the first of them learns of the store.
	 * @param queueOutage the outage of the queue
	 */
	void share(Outage queueOutage) {
		this.outage = queueOutage;
	}

	/**
	 * Why the first of the queue gets no answer from the store.
	 * @return the failure, or {@code null} if the store answers
	 */
	@Nullable StoreException storeFailure() {
		Outage current = this.outage;
		return (current != null) ? current.failure : null;
	}

	/**
	 * Tell those who wait behind what became of the last call to the store.
	 * @param failure the failure, or {@code null} if the store answered
	 */
	void tellOthers(@Nullable StoreException failure) {
		Outage current = this.outage;
		if (current != null && current.failure != failure) {
			current.failure = failure;
		}
	}

	void signal() {
		if (this.onSignal != null) {
			this.onSignal.run();
		}
		else {
			LockSupport.unpark(this.thread);
		}
	}

	/**
	 * Wait for a signal. May return without one, as {@link LockSupport#parkNanos} does.
	 * @param nanos how long to wait at the most
	 */
	void park(long nanos) {
		LockSupport.parkNanos(this, nanos);
	}

	/**
	 * Give up the place, or the lock. Only the first call counts.
	 */
	void end() {
		if (this.ended.compareAndSet(false, true)) {
			this.queues.leave(this);
		}
	}

	/**
	 * What the queue of a key knows of the store.
	 */
	static final class Outage {

		private volatile @Nullable StoreException failure;

	}

}
