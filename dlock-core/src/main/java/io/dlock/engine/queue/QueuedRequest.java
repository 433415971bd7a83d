package io.dlock.engine.queue;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Lease;
import io.dlock.store.MailboxAddress;

/**
 * A request in the local queue of its key. The first of the queue takes over the lease of
 * its predecessor or calls the store, and keeps its place as long as it holds the lock.
 * {@link LocalQueues} moves requests; the methods here only change the request itself.
 */
public final class QueuedRequest {

	private final AcquireContext context;

	private final @Nullable Thread thread;

	private final @Nullable Runnable onSignal;

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile boolean first;

	private volatile boolean granted;

	private volatile boolean lockAvailable;

	private volatile boolean preceded;

	private volatile @Nullable Hold offer;

	private volatile @Nullable Lease predecessor;

	private volatile @Nullable QueueAnswer answer;

	private volatile @Nullable QueueAnswer formerAnswer;

	private volatile @Nullable MailboxAddress leftStoreQueue;

	private volatile @Nullable MailboxAddress possiblePlace;

	/**
	 * Create a request that is in no queue yet.
	 * @param context the call
	 * @param onSignal called when the request becomes the first, the store signals an
	 * available lock or the registry closes; {@code null} to wake the calling thread
	 */
	QueuedRequest(AcquireContext context, @Nullable Runnable onSignal) {
		this.context = context;
		this.onSignal = onSignal;
		this.thread = (onSignal == null) ? Thread.currentThread() : null;
	}

	public AcquireContext context() {
		return this.context;
	}

	public String storageKey() {
		return this.context.storageKey();
	}

	String queueName() {
		return this.context.queueName();
	}

	public boolean isFirst() {
		return this.first;
	}

	/**
	 * Whether the lock is wanted and not held yet.
	 * @return {@code false} once the lock has been granted
	 */
	boolean isWaiting() {
		return !this.granted;
	}

	void granted() {
		this.granted = true;
	}

	/**
	 * Whether the wait time is over.
	 * @return {@code true} if the request must not wait any longer
	 */
	public boolean isExpired() {
		return this.context.deadline().isOver();
	}

	public boolean isAsynchronous() {
		return this.thread == null;
	}

	boolean hasOffer() {
		return this.offer != null;
	}

	/**
	 * Make this request the first. Called under the lock of the queue; {@link #signal()}
	 * follows outside of it.
	 */
	void becomeFirst() {
		this.first = true;
	}

	/**
	 * Take over from the predecessor. Called under the lock of the queue.
	 * @param lease the lease of the predecessor
	 * @param maxNanos how long after its grant a lease may be passed on
	 * @return whether the lease is on offer here and stays alive; otherwise the next call
	 * to the store gives it up
	 */
	boolean takeOver(Lease lease, long maxNanos) {
		this.offer = lease.passTo(this.context, maxNanos);
		if (this.offer == null) {
			giveUpWithNextCall(lease);
		}
		return this.offer != null;
	}

	/**
	 * Give up a lease with the next call to the store.
	 * @param lease the lease
	 */
	private void giveUpWithNextCall(Lease lease) {
		lease.withdraw();
		this.predecessor = lease;
	}

	/**
	 * Remove the lease of the predecessor from a request that leaves without having used
	 * it. The offer is declined: no other request may find a lease that is on its way
	 * back to the store. Called under the lock of the queue.
	 * @return a lease that has to be given up in the store, or {@code null}
	 */
	@Nullable Lease removeUnusedLease() {
		Hold unclaimed = isMember() ? null : this.offer;
		Lease left = this.predecessor;
		if (unclaimed != null) {
			left = unclaimed.lease();
			unclaimed.decline();
			this.offer = null;
		}
		if (left != null) {
			this.predecessor = null;
		}
		return left;
	}

	/**
	 * Claim the lease that is on offer here. An offer that comes too late becomes the
	 * {@linkplain #predecessor() predecessor}.
	 * @return the hold, or {@code null} if there is no offer or it came too late
	 */
	@Nullable Hold claim() {
		Hold offered = this.offer;
		if (offered != null && !offered.claim()) {
			giveUpWithNextCall(offered.lease());
			offered = null;
		}
		this.offer = null;
		return offered;
	}

	public boolean isMember() {
		return this.context.terms().isMember();
	}

	int limit() {
		return this.context.terms().limit();
	}

	/**
	 * Admit a request to a hold beside its queue. Called under the lock of the queue.
	 * @param hold a permit on offer, or a shared lock that is held already
	 */
	void admit(Hold hold) {
		this.offer = hold;
		this.first = true;
	}

	/**
	 * Whether this request can be {@linkplain #admit admitted}.
	 */
	boolean isAdmissible() {
		return isMember() && isWaiting() && this.offer == null && !this.ended.get();
	}

	/**
	 * Take the hold to which this request was admitted.
	 * @return the hold, or {@code null}
	 */
	@Nullable Hold takeAdmission() {
		Hold admission = this.offer;
		if (admission != null) {
			this.offer = null;
		}
		return admission;
	}

	/**
	 * Set whether it is this request's turn.
	 * @param turn {@code false} for a request that was overtaken, or that was admitted
	 * but could not use the hold
	 */
	void turn(boolean turn) {
		this.first = turn;
	}

	/**
	 * The lease that the next call to the store gives up.
	 * @return the lease, or {@code null}
	 */
	public @Nullable Lease predecessor() {
		return this.predecessor;
	}

	public void predecessorGone() {
		this.predecessor = null;
	}

	/**
	 * The answer for a request that watches.
	 * @return the answer, or {@code null} if none has been set
	 */
	@Nullable QueueAnswer answer() {
		return this.answer;
	}

	/**
	 * Set the answer. Called under the lock of the queue, which the request has left.
	 * @param known the answer
	 */
	void answer(QueueAnswer known) {
		this.answer = known;
	}

	/**
	 * The last refusal of the queue before this request became the first or was
	 * overtaken.
	 * @return the answer, or {@code null} if there was none
	 */
	@Nullable QueueAnswer formerAnswer() {
		return this.formerAnswer;
	}

	void formerAnswer(QueueAnswer known) {
		this.formerAnswer = known;
	}

	/**
	 * The place in the queue of the store that has to be given up with this request.
	 * @return the address, or {@code null}
	 */
	public @Nullable MailboxAddress leftStoreQueue() {
		return this.leftStoreQueue;
	}

	/**
	 * Note that no request of this process is left that uses its place in the queue of
	 * the store. Called under the lock of the queue.
	 * @param address the place, or {@code null} if there is none
	 */
	public void leftStoreQueue(@Nullable MailboxAddress address) {
		if (!Objects.equals(this.leftStoreQueue, address)) {
			this.leftStoreQueue = address;
		}
	}

	/**
	 * The place that this request may have in the queue of the store.
	 * @return the address of a call without an answer, or {@code null}
	 */
	public @Nullable MailboxAddress possiblePlace() {
		return this.possiblePlace;
	}

	/**
	 * Note that the store may have queued this request.
	 * @param address the place, or {@code null} once the store has answered
	 */
	public void possiblePlace(@Nullable MailboxAddress address) {
		if (!Objects.equals(this.possiblePlace, address)) {
			this.possiblePlace = address;
		}
	}

	/**
	 * Note that the store has signalled an available lock. The signal is kept until the
	 * next pause, which it cuts short: it may arrive while a call is still being refused.
	 */
	void onLockAvailable() {
		this.lockAvailable = true;
		signal();
	}

	/**
	 * Whether the store has signalled an available lock since the last call to it.
	 * @return whether a call is worthwhile now
	 */
	public boolean isLockAvailable() {
		return this.lockAvailable;
	}

	/**
	 * Forget the signals and the last answer of the store, which is asked now.
	 */
	public void clearLockAvailable() {
		if (this.lockAvailable) {
			this.lockAvailable = false;
		}
		if (this.preceded) {
			this.preceded = false;
		}
	}

	/**
	 * Note that the store has queued this request behind others and signals to it.
	 */
	public void preceded() {
		this.preceded = true;
	}

	/**
	 * Whether another request is before this one in the queue of the store, and gets the
	 * place that this process releases.
	 */
	public boolean isPreceded() {
		return this.preceded;
	}

	public void signal() {
		if (this.onSignal != null) {
			this.onSignal.run();
		}
		else {
			LockSupport.unpark(this.thread);
		}
	}

	/**
	 * Wait for a signal. May return without one, as {@link LockSupport#parkNanos} does.
	 * @param nanos how long to wait
	 */
	public void park(long nanos) {
		LockSupport.parkNanos(this, nanos);
	}

	/**
	 * End this request.
	 * @return {@code false} if it has ended before
	 */
	boolean end() {
		return this.ended.compareAndSet(false, true);
	}

}
