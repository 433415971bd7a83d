package io.dlock.engine;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.SharedLease;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.engine.queue.StoreQueueMembership;
import io.dlock.engine.queue.StoreQueuePlaces;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * Calls the store for a lock. As long as the lock is refused, this process is kept in the
 * queue of the store, so that the store can signal when the lock is available.
 */
final class StoreAcquirer {

	/** Holds nothing. */
	private static final String NO_OWNER = Lease.newOwner();

	private final LockStore store;

	private final StoreQueuePlaces places;

	private final StoreQueueMembership membership;

	private final MachineClock clock;

	private final long failureNanos;

	/** The last call that failed. */
	private volatile long failed;

	/** The first call that failed since the last answer. */
	private volatile @Nullable Moment failingSince;

	StoreAcquirer(LockStore store, StoreQueuePlaces places, StoreQueueMembership membership, MachineClock clock,
			long commandTimeoutNanos) {
		this.store = store;
		this.places = places;
		this.membership = membership;
		this.clock = clock;
		this.failureNanos = commandTimeoutNanos * 2;
	}

	/**
	 * Call the store once. The call also gives up the lease of the predecessor.
	 * @param queued the request, the first of its queue
	 * @param sent the time of the call
	 * @return the answer of the store
	 */
	AcquireResult acquire(QueuedRequest queued, String owner, Moment sent) {
		Lease predecessor = queued.predecessor();
		queued.clearLockAvailable();
		MailboxAddress mailbox = mailbox(queued.context());
		boolean queueing = mailbox != null && !queued.context().deadline().isOver();
		AcquireResult result;
		try {
			result = this.store.acquire(command(queued.context(), owner, mailbox, queueing,
					(predecessor != null) ? predecessor.owner() : null));
		}
		catch (RuntimeException ex) {
			notePossiblePlace(queued, queueing ? mailbox : null, ex);
			throw ex;
		}
		if (predecessor != null) {
			queued.predecessorGone();
		}
		storeAnswered();
		notePlace(queued, mailbox, queueing, result);
		return result;
	}

	private @Nullable MailboxAddress mailbox(AcquireContext context) {
		MailboxAddress own = context.address();
		return (own != null) ? own : this.membership.address();
	}

	private static AcquireCommand command(AcquireContext context, String owner, @Nullable MailboxAddress mailbox,
			boolean queueing, @Nullable String releasing) {
		return new AcquireCommand(context.key(), owner, context.terms().lease(), context.holder(), context.reason(),
				mailbox, queueing, releasing, Math.max(1, context.terms().limit()));
	}

	/**
	 * Call the store once for several keys. Only the first joins the queue of the store.
	 * @param queued the request for the first key, the first of its queue, which has no
	 * predecessor
	 * @param attempts all requests, in the order of their storage keys
	 * @param sent the time of the call
	 * @return one answer for each key
	 */
	List<AcquireResult> acquireAll(QueuedRequest queued, List<Attempt> attempts, Moment sent) {
		queued.clearLockAvailable();
		MailboxAddress mailbox = mailbox(queued.context());
		boolean queueing = mailbox != null && !queued.context().deadline().isOver();
		List<AcquireResult> results = this.store.acquireAll(attempts.stream()
			.map((each) -> command(each.context(), each.owner(), mailbox,
					queueing && each.context() == queued.context(), null))
			.toList());
		if (results.get(0) instanceof AcquireResult.Failed failed) {
			notePossiblePlace(queued, queueing ? mailbox : null, failed.failure());
		}
		else {
			storeAnswered();
			notePlace(queued, mailbox, queueing, results.get(0));
		}
		return results;
	}

	/**
	 * Ask the store whether an exclusive request waits, by a call of an owner that holds
	 * the key already. The store refuses one that has lost it, since it asks for the
	 * place of an owner that holds nothing.
	 * @param context the call
	 * @param sent the time of the call
	 * @return granted, with the token of the lease, unless the lease is lost
	 */
	AcquireResult ask(AcquireContext context, SharedLease lease, Moment sent) {
		AcquireResult result = this.store.acquire(new AcquireCommand(context.key(), lease.owner(), lease.length(),
				context.holder(), context.reason(), null, false, NO_OWNER, AcquireCommand.UNLIMITED));
		storeAnswered();
		return result;
	}

	boolean supportsBatches() {
		return this.store.supportsBatches();
	}

	/**
	 * An address for a fair request.
	 * @return the address, which no other waiting request has
	 */
	MailboxAddress newAddress() {
		return this.membership.newAddress();
	}

	boolean supportsMembers() {
		return this.store.supportsMembers();
	}

	boolean supportsFairLocks() {
		return this.store.supportsFairLocks();
	}

	String describe() {
		return this.store.describe();
	}

	/**
	 * Note that the store works.
	 */
	void storeAnswered() {
		if (this.failingSince != null) {
			this.failingSince = null;
		}
	}

	/**
	 * Note that the store does not work.
	 * @param sent the time of a call that failed
	 */
	void storeFailed(Moment sent) {
		this.failed = this.clock.nanoTime();
		if (this.failingSince == null) {
			this.failingSince = sent;
		}
	}

	/**
	 * How long all requests of this process have failed.
	 * @return the time since the first of them, or zero if the last one was answered
	 */
	long failingNanos() {
		Moment since = this.failingSince;
		return (since != null) ? this.clock.elapsedNanos(since) : 0;
	}

	/**
	 * Whether the store has failed within the last two command timeouts and has answered
	 * nothing since. Silence alone does not count: this process may have been paused.
	 * @return whether there is an outage
	 */
	boolean isStoreFailing() {
		return this.failingSince != null && this.clock.nanoTime() - this.failed < this.failureNanos;
	}

	private static void notePossiblePlace(QueuedRequest queued, @Nullable MailboxAddress mailbox,
			RuntimeException failure) {
		boolean without = failure instanceof StoreException known && known.effect() == Effect.NONE;
		if (mailbox != null && !without) {
			queued.possiblePlace(mailbox);
		}
	}

	/**
	 * An answer to another address leaves the place at the former one as it was.
	 */
	private void notePlace(QueuedRequest queued, @Nullable MailboxAddress mailbox, boolean queueing,
			AcquireResult result) {
		MailboxAddress before = this.places.of(queued);
		if (before != null && !before.equals(mailbox)) {
			this.membership.leave(queued.storageKey(), before, queued.isMember());
			this.places.set(queued, null);
		}
		if (!(result instanceof AcquireResult.Refused refused)) {
			return;
		}
		if (queueing) {
			queued.possiblePlace(null);
			this.places.set(queued, mailbox);
			if (refused.place() > 0 && isSignalled(queued)) {
				queued.preceded();
			}
		}
		else if (!queued.isExpired()) {
			this.membership.listen();
		}
	}

	/**
	 * Whether the store signals an available lock to this process.
	 * @param queued the request, the first of its queue
	 * @return whether the process is in the queue of the store and its mailbox is open
	 */
	boolean isSignalled(QueuedRequest queued) {
		return this.membership.isListening(this.places.of(queued));
	}

	/**
	 * Leave the queue of the store if no request of this process is left in it.
	 * @param queued a request that has left its local queue
	 */
	void leaveStoreQueue(QueuedRequest queued) {
		MailboxAddress left = queued.leftStoreQueue();
		MailboxAddress possible = queued.possiblePlace();
		if (left != null) {
			queued.leftStoreQueue(null);
			this.membership.leave(queued.storageKey(), left, queued.isMember());
		}
		else if (possible != null && !queued.isMember()) {
			this.membership.leaveLater(queued.storageKey(), possible);
		}
	}

	/**
	 * A request of several, with the owner of this call.
	 */
	record Attempt(AcquireContext context, String owner) {
	}

}
