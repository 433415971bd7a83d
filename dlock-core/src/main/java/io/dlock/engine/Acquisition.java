package io.dlock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockCongestedException;
import io.dlock.LockException;
import io.dlock.LockQuarantinedException;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
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

	/** A call to a database may wait for a connection before it has its own time. */
	private static final long LONGEST_CALL_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final AcquireContext context;

	private final RequestServices services;

	private @Nullable PollPause pause;

	/** The owner of the first call to the store and of those that follow. */
	private volatile @Nullable String owner;

	private @Nullable UnansweredRequests unanswered;

	private @Nullable StoreException failure;

	private @Nullable Moment failingSince;

	private AcquireResult.@Nullable Refused refused;

	/** The releases that were under way when this try began. */
	private @Nullable CompletableFuture<?> releases;

	/** The store has not been asked because of them. */
	private boolean postponed;

	/** The store has answered in this attempt, or failed. */
	private volatile boolean answered;

	Acquisition(AcquireContext context, RequestServices services) {
		this.context = context;
		this.services = services;
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
		this.answered = false;
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
			if (this.failure == null || !Thread.currentThread().isInterrupted()) {
				// an interrupt of this thread says nothing about the store
				this.services.queues().answer(queued, answer());
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
		failed(reason, sent);
		this.services.queues().answer(queued, answer());
		return null;
	}

	/**
	 * The answer of the last call to the store, unless it granted the lock.
	 */
	private QueueAnswer answer() {
		StoreException failed = this.failure;
		return (failed != null) ? QueueAnswer.failed(failed)
				: QueueAnswer.refused((this.refused != null) ? this.refused.lock() : null, this.context);
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
		this.answered = true;
		if (result instanceof AcquireResult.Failed failed) {
			failed(isOfPause(failed.failure(), sent) ? ofPause(failed.failure()) : failed.failure(), sent);
			return;
		}
		this.failure = null;
		this.failingSince = null;
		this.refused = (result instanceof AcquireResult.Refused refusal) ? refusal : null;
	}

	/**
	 * Whether a call took longer than any call may: this process was paused, and did not
	 * read the answer in time.
	 */
	private boolean isOfPause(StoreException ex, Moment sent) {
		return ex.isOutage() && this.services.clock().elapsedNanos(sent) > LONGEST_CALL_NANOS
				+ 2 * this.services.settings().commandTimeout().toNanos();
	}

	private static StoreException ofPause(StoreException ex) {
		return new StoreCongestedException(ex.effect(), "The process was suspended during the call: " + ex.getMessage(),
				ex);
	}

	private void failed(StoreException ex, Moment sent) {
		this.failure = ex;
		this.refused = null;
		if (!ex.isOutage()) {
			this.services.store().storeAnswered();
			this.failingSince = null;
		}
		else {
			this.failingSince = (this.failingSince != null) ? this.failingSince : sent;
			if (!Thread.currentThread().isInterrupted()) {
				this.services.store().storeFailed(sent);
			}
		}
		if (ex.effect() == Effect.UNKNOWN) {
			this.unanswered = UnansweredRequests.add(this.unanswered, sent);
		}
	}

	/**
	 * The reason to give up instead of another attempt.
	 * @return the exception for the caller, or {@code null} to go on
	 */
	@Nullable LockException giveUp() {
		if (this.postponed) {
			return null;
		}
		boolean over = deadline().isOver();
		if (this.failure != null) {
			return (over || this.failure.isPermanent() || isFailingTooLong()) ? storeFailed(this.failure) : null;
		}
		return over ? busy(answer()) : null;
	}

	/**
	 * The reason to give up instead of a wait behind a request that has become the first
	 * during an attempt. A request whose time is over has an answer of its own then,
	 * unless another one came before its call.
	 * @return the exception for the caller, or {@code null} to go on
	 */
	@Nullable LockException giveUpOvertaken() {
		return this.answered ? giveUp() : null;
	}

	/**
	 * The reason to give up when the wait ended behind other requests of this process,
	 * the first of which has an answer.
	 * @return the exception for the caller
	 */
	LockException giveUp(QueueAnswer answer) {
		return (answer.failure() != null) ? storeFailed(answer.failure()) : busy(answer);
	}

	/**
	 * The reason to give up when the wait ended before the store answered. A store that
	 * was not asked, and fails for no other request, is not known to have failed: this
	 * process asks for too much at once, or was paused.
	 * @return the exception for the caller
	 */
	LockException giveUpUnanswered() {
		String message = "No answer within " + deadline().elapsed().toMillis() + " ms";
		boolean asked = this.owner != null && !this.answered;
		return (!asked && !this.services.store().isStoreFailing()) ? new LockCongestedException(this.context.key(),
				"acquire",
				message + ": the store was not asked, because too many requests wait or the process was suspended. "
						+ consequence(),
				null) : new LockStoreException(this.context.key(), "acquire", message + ". " + consequence(), null);
	}

	private LockStoreException storeFailed(StoreException failed) {
		if (failed instanceof StoreQuarantinedException quarantined) {
			return new LockQuarantinedException(this.context.key(), quarantined.remaining(), consequence(), failed);
		}
		return (failed instanceof StoreCongestedException)
				? new LockCongestedException(this.context.key(), "acquire", consequence(), failed)
				: new LockStoreException(this.context.key(), "acquire", consequence(), failed);
	}

	/**
	 * An outage is waited for, but no longer than one lease. A request that waited behind
	 * others meanwhile does not begin anew.
	 */
	private boolean isFailingTooLong() {
		long patience = this.context.terms().lease().toNanos();
		if (this.failingSince == null) {
			return false;
		}
		return this.services.clock().elapsedNanos(this.failingSince) > patience
				|| (this.services.store().failingNanos() > patience && deadline().elapsed().toNanos() > patience);
	}

	private String consequence() {
		return (this.unanswered != null)
				? "The lock is not held. If the store has granted it, it is revoked or ends within "
						+ this.context.terms().lease().toMillis() + " ms of the grant"
				: "The lock is not held";
	}

	private LockBusyException busy(QueueAnswer answer) {
		LeaseTerms terms = this.context.terms();
		return (terms.isMember() && !terms.isShared())
				? new LockBusyException(this.context.key(), terms.limit(), deadline().elapsed(), answer.holder())
				: new LockBusyException(this.context.key(), deadline().elapsed(), answer.holder());
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
		if (this.failure instanceof StoreQuarantinedException quarantined) {
			return this.pause.quarantineNanos(quarantined.remaining());
		}
		long nanos = this.pause.nanos(this.refused, this.services.store().isSignalled(queued));
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
		return queued.isAsynchronous() || this.failure != null;
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
