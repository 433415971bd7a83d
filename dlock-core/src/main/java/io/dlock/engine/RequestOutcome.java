package io.dlock.engine;

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
import io.dlock.engine.queue.QueueAnswer;
import io.dlock.store.AcquireResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreQuarantinedException;

/**
 * The last answer of the store to a request, and the exception for its caller that
 * follows from it. A failure is not a refusal: an outage is waited for, and no caller is
 * told "busy" because of it. Not thread-safe, like its {@link Acquisition}.
 */
final class RequestOutcome {

	private final AcquireContext context;

	private final RequestServices services;

	private @Nullable StoreException failure;

	private @Nullable Moment failingSince;

	private AcquireResult.@Nullable Refused refused;

	/** The store has answered in this attempt, or failed. */
	private volatile boolean answered;

	RequestOutcome(AcquireContext context, RequestServices services) {
		this.context = context;
		this.services = services;
	}

	void beginAttempt() {
		this.answered = false;
	}

	/**
	 * Whether the store has answered in this attempt, or failed.
	 */
	boolean isAnswered() {
		return this.answered;
	}

	boolean hasFailed() {
		return this.failure != null;
	}

	@Nullable StoreException failure() {
		return this.failure;
	}

	AcquireResult.@Nullable Refused refusal() {
		return this.refused;
	}

	/**
	 * The answer of the last call to the store, unless it granted the lock.
	 */
	QueueAnswer answer() {
		StoreException failed = this.failure;
		return (failed != null) ? QueueAnswer.failed(failed)
				: QueueAnswer.refused((this.refused != null) ? this.refused.lock() : null, this.context);
	}

	void note(AcquireResult result, Moment sent) {
		this.answered = true;
		if (result instanceof AcquireResult.Failed failed) {
			failed(isOfPause(failed.failure(), sent) ? ofPause(failed.failure()) : failed.failure(), sent);
			return;
		}
		this.failure = null;
		this.failingSince = null;
		this.refused = (result instanceof AcquireResult.Refused refusal) ? refusal : null;
	}

	private boolean isOfPause(StoreException ex, Moment sent) {
		return ex.isOutage() && this.services.clock().elapsedNanos(sent) > this.services.longestCallNanos();
	}

	private static StoreException ofPause(StoreException ex) {
		return new StoreCongestedException(ex.effect(), "The process was suspended during the call: " + ex.getMessage(),
				ex);
	}

	/**
	 * Note a failure of the store, or an answer of it that is of no use.
	 */
	void failed(StoreException ex, Moment sent) {
		this.failure = ex;
		this.refused = null;
		if (!ex.isOutage()) {
			this.services.store().storeAnswered();
			this.failingSince = null;
			return;
		}
		this.failingSince = (this.failingSince != null) ? this.failingSince : sent;
		if (!Thread.currentThread().isInterrupted()) {
			this.services.store().storeFailed(sent);
		}
	}

	/**
	 * The reason to give up instead of another attempt.
	 * @param unresolved whether the store may have granted the lock, since a call has no
	 * answer
	 * @return the exception for the caller, or {@code null} to go on
	 */
	@Nullable LockException giveUp(boolean unresolved) {
		boolean over = deadline().isOver();
		if (this.failure != null) {
			return (over || this.failure.isPermanent() || isFailingTooLong()) ? storeFailed(this.failure, unresolved)
					: null;
		}
		return over ? busy(answer()) : null;
	}

	/**
	 * The reason to give up behind another request of this process.
	 * @param first the answer to that request
	 * @param unresolved whether the store may have granted the lock, since a call has no
	 * answer
	 * @return the exception for the caller
	 */
	LockException giveUp(QueueAnswer first, boolean unresolved) {
		return (first.failure() != null) ? storeFailed(first.failure(), unresolved) : busy(first);
	}

	/**
	 * The reason to give up before the store answered. A store that was not asked, and
	 * fails for no other request, is not known to have failed: this process asks for too
	 * much at once, or was paused.
	 * @param called whether the store was ever called for this request
	 * @param unresolved whether the store may have granted the lock, since a call has no
	 * answer
	 * @return the exception for the caller
	 */
	LockException giveUpUnanswered(boolean called, boolean unresolved) {
		String message = "No answer within " + deadline().elapsed().toMillis() + " ms";
		boolean asked = called && !this.answered;
		return (!asked && !this.services.store().isStoreFailing()) ? new LockCongestedException(this.context.key(),
				"acquire",
				message + ": the store was not asked, because too many requests wait or the process was suspended. "
						+ consequence(unresolved),
				null)
				: new LockStoreException(this.context.key(), "acquire", message + ". " + consequence(unresolved), null);
	}

	private LockStoreException storeFailed(StoreException failed, boolean unresolved) {
		if (failed instanceof StoreQuarantinedException quarantined) {
			return new LockQuarantinedException(this.context.key(), quarantined.remaining(), consequence(unresolved),
					failed);
		}
		return (failed instanceof StoreCongestedException)
				? new LockCongestedException(this.context.key(), "acquire", consequence(unresolved), failed)
				: new LockStoreException(this.context.key(), "acquire", consequence(unresolved), failed);
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

	private String consequence(boolean unresolved) {
		return unresolved ? "The lock is not held. If the store has granted it, it is revoked or ends within "
				+ this.context.terms().lease().toMillis() + " ms of the grant" : "The lock is not held";
	}

	private LockBusyException busy(QueueAnswer answer) {
		LeaseTerms terms = this.context.terms();
		return (terms.isMember() && !terms.isShared())
				? new LockBusyException(this.context.key(), terms.limit(), deadline().elapsed(), answer.holder())
				: new LockBusyException(this.context.key(), deadline().elapsed(), answer.holder());
	}

	private Deadline deadline() {
		return this.context.deadline();
	}

}
