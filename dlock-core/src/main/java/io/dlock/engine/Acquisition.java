package io.dlock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.dlock.LockException;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.Revoker;
import io.dlock.engine.lease.UnansweredRequests;
import io.dlock.engine.queue.QueueAnswer;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.AcquireResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;

/**
 * One request on its way to a lock: it takes over the lease of its predecessor, or calls
 * the store again and again, with the same owner, until the lock is granted or the
 * request gives up. The caller decides how to wait in between, with or without a blocked
 * thread. Not thread-safe; used by one thread after the other.
 * <p>
 * A call without an answer leaves open whether the store granted the lock. The next call
 * of the same owner resolves that, since it is granted if so; a request that gives up
 * leaves the rest to the {@link Revoker}.
 */
class Acquisition {

	/** How long a try waits for a release before it asks the store regardless. */
	private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final AcquireContext context;

	private final RequestServices services;

	private final RequestOutcome outcome;

	private @Nullable PollPause pause;

	/** The owner of the first call to the store and of those that follow. */
	private volatile @Nullable String owner;

	private @Nullable UnansweredRequests unanswered;

	/** The releases that were under way when this try began. */
	private @Nullable CompletableFuture<?> releases;

	/** The store has not been asked because of them. */
	private boolean postponed;

	Acquisition(AcquireContext context, RequestServices services) {
		this.context = context;
		this.services = services;
		this.outcome = new RequestOutcome(context, services);
	}

	AcquireContext context() {
		return this.context;
	}

	Deadline deadline() {
		return this.context.deadline();
	}

	/**
	 * Take over the lease of the predecessor, or call the store once.
	 * @param queued the request, the first of its queue
	 * @return the lock, or {@code null} if it was not granted
	 */
	final @Nullable Hold attempt(QueuedRequest queued) {
		this.outcome.beginAttempt();
		return attemptOnce(queued);
	}

	@Nullable Hold attemptOnce(QueuedRequest queued) {
		Hold passedOn = this.services.queues().claim(queued);
		if (passedOn == null) {
			return attemptInStore(queued);
		}
		try {
			this.services.leases().begin(queued, passedOn);
			return passedOn;
		}
		catch (Throwable ex) {
			this.services.handles().discardSoon(passedOn);
			throw ex;
		}
	}

	/**
	 * Call the store once. A try waits for releases in the background that began before
	 * it, since its caller may have held the lock itself. A downgrade does not wait:
	 * nothing that is released keeps it from the place of its own lease.
	 * @param queued the request, the first of its queue
	 * @return the lock, or {@code null} if it was not granted
	 */
	final @Nullable Hold attemptInStore(QueuedRequest queued) {
		this.postponed = queued.predecessor() == null && deadline().isImmediate() && awaitsReleases(queued);
		if (this.postponed) {
			return null;
		}
		Moment sent = this.services.clock().now();
		return accept(queued, sent, askOrRevoke(queued, sent));
	}

	/**
	 * Call the store. An error, such as a lack of memory, leaves the effect open.
	 */
	private AcquireResult askOrRevoke(QueuedRequest queued, Moment sent) {
		try {
			return ask(queued, owner(), sent);
		}
		catch (Throwable ex) {
			this.unanswered = UnansweredRequests.add(this.unanswered, sent);
			throw ex;
		}
	}

	@SuppressWarnings("FutureReturnValueIgnored") // the one it depends on is kept
	private boolean awaitsReleases(QueuedRequest queued) {
		CompletableFuture<?> awaited = this.releases;
		if (awaited == null) {
			awaited = this.services.queues().releases().find(queued.storageKey());
			if (awaited != null) {
				awaited.thenRun(queued::signal);
				this.releases = awaited;
			}
		}
		return awaited != null && !awaited.isDone() && deadline().remainingNanos() > -RELEASE_NANOS;
	}

	/**
	 * Begin the lock if the store has granted it.
	 * @param queued the request, the first of its queue
	 * @param sent the time of the call
	 * @param result the answer of the store
	 * @return the lock, or {@code null} if it was not granted
	 */
	final @Nullable Hold accept(QueuedRequest queued, Moment sent, AcquireResult result) {
		note(result, sent);
		if (!(result instanceof AcquireResult.Granted granted)) {
			if (!this.outcome.hasFailed() || !Thread.currentThread().isInterrupted()) {
				// an interrupt of this thread says nothing about the store
				this.services.queues().answer(queued, this.outcome.answer());
			}
			return null;
		}
		UnansweredRequests before = this.unanswered;
		// should anything fail from here on, the lock that the store granted is revoked
		this.unanswered = UnansweredRequests.add(before, sent);
		if (granted.token() > Lease.MAX_STORE_TOKEN) {
			return giveBack(queued, sent, before, new StoreException(Effect.NONE, true,
					"The clock of the store is beyond the year 2255, so that it has no fencing tokens left; set it right and remove the tokens of the locks",
					null));
		}
		Lease lease = this.services.leases()
			.create(new Lease.Grant(this.context, owner(), granted.token(), sent, before));
		if (lease.isStale()) {
			// the store works, and this process may have been suspended
			return giveBack(queued, sent, before, new StoreCongestedException(
					"The answer came so late that hardly anything is left of the lease", null));
		}
		begin(queued, lease, granted.awaited());
		this.unanswered = null;
		return lease.holder();
	}

	/**
	 * Begin a lease that the store has granted. If that fails, the lease is revoked.
	 * @param queued the request, the first of its queue
	 * @param awaited whether an exclusive request waits for it
	 */
	void begin(QueuedRequest queued, Lease lease, boolean awaited) {
		this.services.leases().begin(queued, lease.holder());
		this.services.leases().keep(lease);
	}

	/**
	 * Create the owner of a call to the store.
	 */
	String newOwner() {
		return Lease.newOwner();
	}

	/**
	 * Revoke a grant that is of no use. The next call has an owner of its own, which the
	 * revocation does not concern. The store may have granted the lock just now, however
	 * long ago the request was sent.
	 */
	private @Nullable Hold giveBack(QueuedRequest queued, Moment sent, @Nullable UnansweredRequests before,
			StoreException reason) {
		this.unanswered = UnansweredRequests.add(before, this.services.clock().now());
		abandon();
		this.owner = newOwner();
		this.outcome.failed(reason, sent);
		this.services.queues().answer(queued, this.outcome.answer());
		return null;
	}

	/**
	 * The owner of the next call to the store.
	 */
	final String owner() {
		String current = this.owner;
		if (current == null) {
			current = newOwner();
			this.owner = current;
		}
		return current;
	}

	/**
	 * Call the store.
	 * @param queued the request, the first of its queue
	 * @param sent the time of the call
	 * @return the answer, which may be a failure
	 */
	AcquireResult ask(QueuedRequest queued, String currentOwner, Moment sent) {
		try {
			return this.services.store().acquire(queued, currentOwner, sent);
		}
		catch (StoreException ex) {
			return new AcquireResult.Failed(ex);
		}
		catch (Exception ex) {
			// a store that is written in another language throws checked ones as well
			return unknown(ex);
		}
	}

	static AcquireResult unknown(Exception ex) {
		return new AcquireResult.Failed(new StoreException(Effect.UNKNOWN, false, String.valueOf(ex.getMessage()), ex));
	}

	final void note(AcquireResult result, Moment sent) {
		this.outcome.note(result, sent);
		if (result instanceof AcquireResult.Failed failed && failed.failure().effect() == Effect.UNKNOWN) {
			this.unanswered = UnansweredRequests.add(this.unanswered, sent);
		}
	}

	/**
	 * The reason to give up instead of another attempt.
	 * @return the exception for the caller, or {@code null} to go on
	 */
	@Nullable LockException giveUp() {
		return this.postponed ? null : this.outcome.giveUp(isUnresolved());
	}

	/**
	 * The reason to give up instead of a wait behind a request that has become the first
	 * during an attempt. A request whose time is over has an answer of its own then,
	 * unless another one came before its call.
	 * @return the exception for the caller, or {@code null} to go on
	 */
	@Nullable LockException giveUpOvertaken() {
		return this.outcome.isAnswered() ? giveUp() : null;
	}

	/**
	 * The reason to give up when the wait ended behind other requests of this process,
	 * the first of which has an answer.
	 * @return the exception for the caller
	 */
	LockException giveUp(QueueAnswer answer) {
		return this.outcome.giveUp(answer, isUnresolved());
	}

	/**
	 * The reason to give up when the wait ended before the store answered.
	 * @return the exception for the caller
	 */
	LockException giveUpUnanswered() {
		return this.outcome.giveUpUnanswered(this.owner != null, isUnresolved());
	}

	/**
	 * Whether the store may have granted the lock, since a call has no answer.
	 */
	private boolean isUnresolved() {
		return this.unanswered != null;
	}

	/**
	 * The pause before the next attempt.
	 * @param queued the request, the first of its queue
	 * @return the pause in nanoseconds, within the wait time if there is one; zero if the
	 * store has signalled or the registry has closed, whose signal a call to the store
	 * may have consumed
	 */
	final long pauseNanos(QueuedRequest queued) {
		long nanos = nanosUntilNextCall(queued);
		return this.services.queues().isOpen() ? nanos : 0;
	}

	private long nanosUntilNextCall(QueuedRequest queued) {
		if (this.postponed) {
			return RELEASE_NANOS;
		}
		if (this.pause == null) {
			this.pause = new PollPause(this.context, this.services.settings().maxPollInterval());
		}
		if (this.outcome.failure() instanceof StoreQuarantinedException quarantined) {
			return this.pause.quarantineNanos(quarantined.remaining());
		}
		long nanos = this.pause.nanos(this.outcome.refusal(), this.services.store().isSignalled(queued));
		return queued.isLockAvailable() ? 0 : nanos;
	}

	/**
	 * Have a possible grant of the store revoked in the background.
	 */
	final void abandon() {
		if (this.unanswered != null) {
			this.services.revoker().revoke(this.context.key(), owner(), this.unanswered, this.context.terms().lease());
			this.unanswered = null;
		}
	}

	/**
	 * Whether a lease that is left over has to be released in the background.
	 */
	final boolean mustNotWait(QueuedRequest queued) {
		return queued.isAsynchronous() || this.outcome.hasFailed();
	}

	/**
	 * Give up a possible grant of the store and the place in the local queue, and with
	 * the last request of the key the place in the queue of the store. A registry that
	 * closes waits for the requests in its queues before it makes the revocations that
	 * are left. A caller that has waited for a store without an answer does not wait for
	 * another call.
	 */
	void leave(QueuedRequest queued) {
		try {
			abandon();
		}
		finally {
			this.services.queues().leave(queued, mustNotWait(queued));
		}
		this.services.store().leaveStoreQueue(queued);
	}

}
