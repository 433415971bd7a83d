package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockCongestedException;
import io.dlock.LockException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.Lease.Terms;
import io.dlock.engine.MachineClock.Moment;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * One request on its way to a lock: it takes over the lease of the one before it, or
 * calls the store again and again, with the same owner, until it is granted or gives up.
 * How to wait in between is the caller's, who may block a thread or not. Not thread-safe;
 * used by one thread after the other.
 * <p>
 * A call without an answer leaves open whether the lock is ours. The next call of the
 * same owner resolves that, since it is granted if so; a request that gives up leaves the
 * rest to the {@link Revoker}.
 */
final class Acquisition {

	private static final Pattern CONTROL_CHARACTERS = Pattern.compile("\\p{Cntrl}");

	private final LockRequest request;

	private final Terms terms;

	private final LeaseLockRegistry registry;

	private final MachineClock clock;

	private final Deadline deadline;

	private final Thread requester = Thread.currentThread();

	private @Nullable Backoff backoff;

	/** The owner of the first call to the store and of those that follow. */
	private volatile @Nullable String owner;

	private @Nullable Unresolved unresolved;

	private @Nullable StoreException failure;

	private @Nullable Moment failingSince;

	private AcquireResult.@Nullable Refused refused;

	Acquisition(LockRequest request, Duration waitTime, LeaseLockRegistry registry) {
		this.request = request;
		this.terms = new Terms(registry.settings().leaseOf(request), request.renew());
		this.registry = registry;
		this.clock = registry.keeper().clock();
		this.deadline = Deadline.after(this.clock, waitTime);
	}

	LockRequest request() {
		return this.request;
	}

	Terms terms() {
		return this.terms;
	}

	Deadline deadline() {
		return this.deadline;
	}

	String thread() {
		return this.requester.getName();
	}

	/**
	 * Take over the lease of the one before, or call the store once.
	 * @param turn the place in the local queue, which is the first
	 * @return the lock, or {@code null} if it was not granted
	 */
	@Nullable Hold attempt(Turn turn) {
		Hold inherited = turn.claim();
		if (inherited == null) {
			return attemptInStore(turn);
		}
		begin(inherited);
		return inherited;
	}

	private void begin(Hold hold) {
		hold.turn().granted();
		Duration maxHold = this.registry.settings().maxHoldOf(this.request);
		if (maxHold != null || this.request.minHold() != null || this.registry.events().areWanted()) {
			hold.begin(new Tenure(this.request, maxHold, this.clock));
		}
	}

	private @Nullable Hold attemptInStore(Turn turn) {
		Moment sent = this.clock.now();
		String currentOwner = owner();
		AcquireResult result = acquire(turn, currentOwner, sent);
		if (!(result instanceof AcquireResult.Granted granted)) {
			if (this.failure == null || !Thread.currentThread().isInterrupted()) {
				// an interrupt of this thread says nothing about the store
				turn.tell(answer());
			}
			return null;
		}
		Unresolved before = this.unresolved;
		// should anything go wrong from here on, the lock that is ours now is revoked
		this.unresolved = Unresolved.add(before, sent);
		if (granted.token() > Lease.MAX_STORE_TOKEN) {
			return giveBack(turn, sent, new StoreException(Effect.NONE, true,
					"The clock of the store is beyond the year 2255, so that it has no fencing tokens left; set it right and remove the tokens of the locks",
					null));
		}
		Lease granting = new Lease(new Lease.Grant(turn, currentOwner, granted.token(), sent, before), this.clock,
				this.registry.keeper());
		if (granting.isStale()) {
			return giveBack(turn, sent, new StoreException(Effect.NONE, false,
					"The store answered so late that hardly anything is left of the lease", null));
		}
		begin(granting.holder());
		keep(granting);
		this.unresolved = null;
		return granting.holder();
	}

	/**
	 * Revoke a grant that is of no use. The next call has an owner of its own, which the
	 * revocation does not concern.
	 */
	private @Nullable Hold giveBack(Turn turn, Moment sent, StoreException reason) {
		abandon();
		this.owner = OwnerIds.next();
		failed(reason, sent);
		turn.tell(answer());
		return null;
	}

	/**
	 * The answer of the last call to the store, unless it granted the lock.
	 */
	private Answer answer() {
		StoreException failed = this.failure;
		return (failed != null) ? Answer.failed(failed)
				: Answer.refused((this.refused != null) ? this.refused.holder() : null);
	}

	private String owner() {
		String current = this.owner;
		if (current == null) {
			current = OwnerIds.next();
			this.owner = current;
		}
		return current;
	}

	private void keep(Lease granting) {
		LeaseKeeper keeper = this.registry.keeper();
		try {
			keeper.keep(granting);
		}
		catch (Throwable ex) {
			keeper.remove(granting);
			throw ex;
		}
	}

	private @Nullable AcquireResult acquire(Turn turn, String currentOwner, Moment sent) {
		Lease predecessor = turn.predecessor();
		turn.answerCall();
		MailboxAddress mailbox = this.registry.turns().address();
		boolean queueing = mailbox != null && !this.deadline.isOver();
		try {
			AcquireResult result = this.registry.store()
				.acquire(new AcquireCommand(this.request.key(), currentOwner, this.terms.lease(), holder(), reason(),
						mailbox, queueing, (predecessor != null) ? predecessor.owner() : null));
			turn.predecessorGone();
			this.registry.storeAnswered(sent);
			this.failure = null;
			this.failingSince = null;
			note(result, turn, mailbox, queueing);
			return result;
		}
		catch (StoreException ex) {
			failed(ex, sent);
		}
		catch (RuntimeException ex) {
			failed(new StoreException(Effect.UNKNOWN, false, String.valueOf(ex.getMessage()), ex), sent);
		}
		return null;
	}

	/**
	 * An answer to another address leaves the place at the former one as it was.
	 */
	private void note(AcquireResult result, Turn turn, @Nullable MailboxAddress mailbox, boolean queueing) {
		this.refused = (result instanceof AcquireResult.Refused refusal) ? refusal : null;
		MailboxAddress before = turn.queuedAt();
		if (before != null && !before.equals(mailbox)) {
			this.registry.turns().leave(turn.storageKey(), before);
			turn.queuedAt(null);
		}
		if (this.refused == null) {
			return;
		}
		if (queueing) {
			turn.queuedAt(mailbox);
		}
		else if (!this.deadline.isOver()) {
			this.registry.turns().listen();
		}
	}

	private void failed(StoreException ex, Moment sent) {
		this.failure = ex;
		this.refused = null;
		if (ex instanceof StoreCongestedException) {
			this.failingSince = null;
		}
		else if (this.failingSince == null) {
			this.failingSince = sent;
		}
		if (ex.effect() == Effect.UNKNOWN) {
			this.unresolved = Unresolved.add(this.unresolved, sent);
		}
	}

	/**
	 * Why there is no point in another attempt.
	 * @return the exception for the caller, or {@code null} to go on
	 */
	@Nullable LockException giveUp() {
		if (this.failure != null && (this.failure.isLasting() || isFailingTooLong() || this.deadline.isOver())) {
			return storeFailed(this.failure);
		}
		return this.deadline.isOver() ? busy((this.refused != null) ? this.refused.holder() : null) : null;
	}

	/**
	 * The wait ended behind other requests of this process, the first of which has an
	 * answer.
	 * @param answer the knowledge of the first about the lock
	 * @return the exception for the caller
	 */
	LockException giveUp(Answer answer) {
		return (answer.failure() != null) ? storeFailed(answer.failure()) : busy(answer.holder());
	}

	/**
	 * The wait ended, and the store has not answered yet. A store that answers others
	 * does not fail: this process asks for too much at once.
	 * @return the exception for the caller
	 */
	LockException giveUpUnanswered() {
		String message = "No answer within " + this.deadline.elapsed().toMillis() + " ms";
		return storeFailed(
				(this.owner == null && this.registry.isStoreAnswering())
						? new StoreCongestedException(
								message + ": the store was not asked, because too many requests wait", null)
						: new StoreException(Effect.UNKNOWN, false, message, null));
	}

	private LockStoreException storeFailed(StoreException failed) {
		return (failed instanceof StoreCongestedException)
				? new LockCongestedException(this.request.key(), "acquire", consequence(), failed)
				: new LockStoreException(this.request.key(), "acquire", consequence(), failed);
	}

	/**
	 * An outage is waited for, but not for ever.
	 */
	private boolean isFailingTooLong() {
		return this.failingSince != null && this.clock.elapsedNanos(this.failingSince) > this.terms.lease().toNanos();
	}

	private String consequence() {
		return (this.unresolved != null)
				? "The lock is not held; should the store have granted it, it is revoked or ends within "
						+ this.terms.lease().toMillis() + " ms"
				: "The lock is not held";
	}

	private LockBusyException busy(@Nullable String holder) {
		return new LockBusyException(this.request.key(), this.deadline.elapsed(), holder);
	}

	/**
	 * How long to wait before the next attempt: until the holder's lease ends, but no
	 * longer than the back-off says, since it may be released or its holder die. A
	 * process that is called by the store when its turn comes looks less often.
	 * @param turn the place in the local queue
	 * @return the pause in nanoseconds, which ends with the wait time at the latest; zero
	 * if the store has called
	 */
	long pauseNanos(Turn turn) {
		long pause = pauseNanos(turn.queuedAt() != null && this.registry.turns().isListening());
		return turn.isCalled() ? 0 : pause;
	}

	private long pauseNanos(boolean willBeCalled) {
		if (this.backoff == null) {
			this.backoff = new Backoff(this.registry.settings().maxPollInterval());
		}
		long pause = willBeCalled ? this.backoff.longestNanos() : this.backoff.nextNanos();
		if (this.refused != null) {
			long leaseEnd = TimeUnit.NANOSECONDS.convert(this.refused.remaining()) + TimeUnit.MILLISECONDS.toNanos(1);
			pause = Math.min(pause, leaseEnd);
		}
		return Math.max(0, Math.min(pause, this.deadline.remainingNanos()));
	}

	/**
	 * Give up a possible grant of the store, in the background.
	 */
	private void abandon() {
		if (this.unresolved != null) {
			this.registry.revoker().revoke(this.request.key(), owner(), this.unresolved, this.terms.lease());
			this.unresolved = null;
		}
	}

	/**
	 * Give up the place in the local queue and a possible grant of the store, and with
	 * the last request of the key the place in the queue of the store.
	 * @param turn the place in the local queue
	 */
	void leave(Turn turn) {
		turn.end();
		abandon();
		MailboxAddress left = turn.leftStoreQueue();
		if (left != null) {
			turn.leftStoreQueue(null);
			this.registry.turns().leave(turn.storageKey(), left);
		}
	}

	/**
	 * The name of the calling thread, for people.
	 * @return the instance and the thread
	 */
	String holder() {
		LockSettings settings = this.registry.settings();
		return abbreviate(settings.instance() + " [" + this.requester.getName() + "]");
	}

	private String reason() {
		return (this.request.reason() != null) ? abbreviate(this.request.reason()) : "";
	}

	/**
	 * The stores keep up to 255 characters, and not all of them any character.
	 */
	private static String abbreviate(String text) {
		String shortened = (text.length() <= 255) ? text : text.substring(0, 254) + "…";
		for (int i = 0; i < shortened.length(); i++) {
			if (Character.isISOControl(shortened.charAt(i))) {
				return CONTROL_CHARACTERS.matcher(shortened).replaceAll(" ");
			}
		}
		return shortened;
	}

}
