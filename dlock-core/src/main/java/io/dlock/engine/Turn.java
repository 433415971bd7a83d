package io.dlock.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;

/**
 * A place in the local queue of a key. Who is first may take over the lease of the one
 * before or talk to the store, and keeps the place as long as the lock is held.
 */
final class Turn {

	private final LocalQueues queues;

	private final String key;

	private final String storageKey;

	private final Lease.Terms terms;

	private final @Nullable Thread thread;

	private final @Nullable Runnable onSignal;

	private final @Nullable Acquisition acquisition;

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile boolean first;

	private volatile boolean granted;

	private volatile boolean called;

	private volatile @Nullable Hold offer;

	private volatile @Nullable Lease predecessor;

	private volatile @Nullable Outage outage;

	/**
	 * Create a place for a thread that waits, or for a callback.
	 * @param queues the queues
	 * @param key the key
	 * @param terms what is asked for
	 * @param onSignal what to call when the place becomes the first, the store calls or
	 * the registry closes, or {@code null} to wake the calling thread
	 */
	Turn(LocalQueues queues, String key, Lease.Terms terms, @Nullable Runnable onSignal) {
		this(queues, key, terms, onSignal, null);
	}

	/**
	 * Create a place.
	 * @param acquisition who wants the lock, or {@code null} if nobody does: the place is
	 * kept while a lock is given up
	 */
	Turn(LocalQueues queues, String key, Lease.Terms terms, @Nullable Runnable onSignal,
			@Nullable Acquisition acquisition) {
		this.queues = queues;
		this.key = key;
		this.storageKey = StorageKey.of(key);
		this.terms = terms;
		this.onSignal = onSignal;
		this.thread = (onSignal == null) ? Thread.currentThread() : null;
		this.acquisition = acquisition;
	}

	String key() {
		return this.key;
	}

	String storageKey() {
		return this.storageKey;
	}

	Lease.Terms terms() {
		return this.terms;
	}

	boolean isFirst() {
		return this.first;
	}

	/**
	 * Who wants the lock, or has it.
	 * @return the request, or {@code null} if the place is only kept
	 */
	@Nullable Acquisition acquisition() {
		return this.acquisition;
	}

	/**
	 * The lock is held now, and the place kept until it is released.
	 */
	void granted() {
		this.granted = true;
	}

	/**
	 * Whether somebody waits here for the lock, behind others or for the store.
	 * @return whether the lock is wanted and not held yet
	 */
	boolean isWaiting() {
		return this.acquisition != null && !this.granted;
	}

	/**
	 * Make this place the first. Called under the lock of the queue; {@link #signal()}
	 * follows outside of it.
	 */
	void becomeFirst() {
		this.first = true;
	}

	/**
	 * Inherit from the one before. Called under the lock of the queue.
	 * @param lease its lease
	 * @param maxNanos how long after its grant a lease may be passed on
	 * @return whether the lease is on offer here and stays alive; otherwise it is given
	 * up with the next call to the store
	 */
	boolean inherit(Lease lease, long maxNanos) {
		this.offer = lease.passTo(this, maxNanos);
		if (this.offer == null) {
			giveUpInStore(lease);
		}
		return this.offer != null;
	}

	/**
	 * Give up a lease with the next call to the store. Called under the lock of the
	 * queue.
	 * @param lease the lease
	 */
	void giveUpInStore(Lease lease) {
		lease.withdraw();
		this.predecessor = lease;
	}

	/**
	 * What was left to this place and has not been used, when the place is given up.
	 * Called under the lock of the queue.
	 * @return a lease that somebody has to give up in the store, or {@code null}
	 */
	@Nullable Lease takeInheritance() {
		Hold unclaimed = this.offer;
		Lease left = this.predecessor;
		if (unclaimed != null) {
			left = unclaimed.lease();
			if (!unclaimed.decline()) {
				left.withdraw();
			}
		}
		this.offer = null;
		this.predecessor = null;
		return left;
	}

	/**
	 * Take the lease that is on offer here.
	 * @return the hold, or {@code null} if there is none or it came too late; then the
	 * lease is the predecessor
	 */
	@Nullable Hold claim() {
		Hold offered = this.offer;
		if (offered == null) {
			return null;
		}
		if (!offered.claim()) {
			giveUpInStore(offered.lease());
			offered = null;
		}
		this.offer = null;
		return offered;
	}

	/**
	 * The lease that the next call to the store gives up.
	 * @return the lease, or {@code null}
	 */
	@Nullable Lease predecessor() {
		return this.predecessor;
	}

	void predecessorGone() {
		this.predecessor = null;
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

	/**
	 * The store has told that it is worthwhile to call it now. Kept until the next pause,
	 * which it cuts short: it may come while the first is still being refused.
	 */
	void call() {
		this.called = true;
		signal();
	}

	/**
	 * Whether the store has called since it was last asked.
	 * @return whether it has
	 */
	boolean isCalled() {
		return this.called;
	}

	/**
	 * The store is about to be asked: that answers its calls so far.
	 */
	void answerCall() {
		this.called = false;
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
	 * Give up the place and leave the lease to the next in the queue, if there is one.
	 * @param lease the lease
	 * @return {@code false} if nobody waits; nothing has changed then
	 */
	boolean endAndPass(Lease lease) {
		return this.queues.pass(this, lease) && this.ended.compareAndSet(false, true);
	}

	/**
	 * Give up the place and leave the lease behind, if nobody waits.
	 * @param lease the lease
	 * @return {@code false} if somebody waits by now; nothing has changed then
	 */
	boolean endAndLeaveBehind(Lease lease) {
		return this.queues.leaveBehind(this, lease) && this.ended.compareAndSet(false, true);
	}

	/**
	 * Take back what was left behind, to give it up in the store.
	 * @param lease the lease
	 * @return the place to keep meanwhile, or {@code null} if somebody else has the lease
	 */
	@Nullable Turn takeLeft(Lease lease) {
		return this.queues.takeLeft(lease);
	}

	/**
	 * What the queue of a key knows of the store.
	 */
	static final class Outage {

		private volatile @Nullable StoreException failure;

	}

}
