package io.dlock.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;

/**
 * A place in the local queue of a key. The first may take over the lease of the one
 * before or talk to the store, and keeps the place as long as the lock is held.
 */
final class Turn {

	private final LocalQueues queues;

	private final Acquisition acquisition;

	private final String storageKey;

	private final @Nullable Thread thread;

	private final @Nullable Runnable onSignal;

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile boolean first;

	private volatile boolean granted;

	private volatile boolean called;

	private volatile @Nullable Hold offer;

	private volatile @Nullable Lease predecessor;

	private volatile @Nullable LocalQueue queue;

	private volatile @Nullable Answer answer;

	private volatile @Nullable MailboxAddress leftStoreQueue;

	/**
	 * Create a place.
	 * @param queues the queues
	 * @param acquisition the request that wants the lock
	 * @param onSignal what to call when the place becomes the first, the store calls or
	 * the registry closes, or {@code null} to wake the calling thread
	 */
	Turn(LocalQueues queues, Acquisition acquisition, @Nullable Runnable onSignal) {
		this.queues = queues;
		this.acquisition = acquisition;
		this.storageKey = StorageKey.of(key());
		this.onSignal = onSignal;
		this.thread = (onSignal == null) ? Thread.currentThread() : null;
	}

	String key() {
		return this.acquisition.request().key();
	}

	String storageKey() {
		return this.storageKey;
	}

	Lease.Terms terms() {
		return this.acquisition.terms();
	}

	boolean isFirst() {
		return this.first;
	}

	/**
	 * The request that wants the lock, or has it.
	 * @return the request
	 */
	Acquisition acquisition() {
		return this.acquisition;
	}

	/**
	 * The lock is held now, and the place kept until it is released.
	 */
	void granted() {
		this.granted = true;
		queuedAt(null);
		tell(Answer.heldHere(this.acquisition));
	}

	/**
	 * Whether a request waits here for the lock, behind others or for the store.
	 * @return whether the lock is wanted and not held yet
	 */
	boolean isWaiting() {
		return !this.granted;
	}

	/**
	 * Whether the wait time of the request is over.
	 * @return whether it waits no longer
	 */
	boolean isExpired() {
		return this.acquisition.deadline().isOver();
	}

	boolean isAsynchronous() {
		return this.thread == null;
	}

	boolean hasOffer() {
		return this.offer != null;
	}

	void joined(LocalQueue joined) {
		this.queue = joined;
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
	 * The lease that was left to this place and has not been used when the place is given
	 * up. The offer is declined: no request must find a lease that is on its way back.
	 * Called under the lock of the queue.
	 * @return a lease that has to be given up in the store, or {@code null}
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
			this.queues.endOf(offered.lease());
			tell(null);
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
	 * Note the answer that the first has from the store, for all requests of the queue.
	 * @param known the answer of the store, or {@code null} if the former is out of date
	 */
	void tell(@Nullable Answer known) {
		LocalQueue current = this.queue;
		if (current != null && current.note(known)) {
			this.queues.tellWatchers(this.storageKey);
		}
	}

	/**
	 * The current knowledge of the queue about the lock.
	 * @return the latest answer of the store, or {@code null} as long as there is none
	 */
	@Nullable Answer latestAnswer() {
		LocalQueue current = this.queue;
		return (current != null) ? current.answer() : null;
	}

	/**
	 * Stop waiting because the wait time is over, unless this is the first place by now.
	 * @return the answer to the request, or {@code null} if it is the first, or if the
	 * first has no answer yet
	 */
	@Nullable Answer stopWaiting() {
		if (this.answer == null) {
			this.queues.stopWaiting(this);
		}
		return this.answer;
	}

	/**
	 * Tell this request the answer. Called under the lock of the queue, which it has
	 * left.
	 * @param known the answer
	 */
	void told(Answer known) {
		this.answer = known;
	}

	/**
	 * The place of this process in the queue of the store.
	 * @return the address, or {@code null} if it is not queued there
	 */
	@Nullable MailboxAddress queuedAt() {
		LocalQueue current = this.queue;
		return (current != null) ? current.queuedAt() : null;
	}

	void queuedAt(@Nullable MailboxAddress address) {
		LocalQueue current = this.queue;
		if (current != null) {
			current.queuedAt(address);
		}
	}

	/**
	 * Note that no request of this process is left that uses its place in the queue of
	 * the store. Called under the lock of the queue.
	 * @param address the place, or {@code null} if there is none
	 */
	void leftStoreQueue(@Nullable MailboxAddress address) {
		this.leftStoreQueue = address;
	}

	/**
	 * The place in the queue of the store that has to be given up with this turn.
	 * @return the address, or {@code null}
	 */
	@Nullable MailboxAddress leftStoreQueue() {
		return this.leftStoreQueue;
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
	 * @return {@code false} if no request waits; nothing has changed then
	 */
	boolean endAndPass(Lease lease) {
		return this.queues.pass(this, lease) && this.ended.compareAndSet(false, true);
	}

}
