package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.MachineClock.Moment;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * One request on its way to a lease: it calls the store again and again, with the same
 * owner, until it is granted or gives up. How to wait in between is the caller's, who may
 * block a thread or not. Not thread-safe; used by one thread after the other.
 * <p>
 * A call without an answer leaves open whether the lock is ours. The next call of the
 * same owner resolves that, since it is granted if so; a request that gives up leaves the
 * rest to the {@link Revoker}.
 */
final class Acquisition {

	private static final Pattern CONTROL_CHARACTERS = Pattern.compile("\\p{Cntrl}");

	private final LockRequest request;

	private final Duration lease;

	private final LockStore store;

	private final MachineClock clock;

	private final LeaseKeeper keeper;

	private final Revoker revoker;

	private final String holderName;

	private final Deadline deadline;

	private final Backoff backoff;

	private String owner = OwnerIds.next();

	private @Nullable Unresolved unresolved;

	private @Nullable StoreException failure;

	private @Nullable Moment failingSince;

	private AcquireResult.@Nullable Refused refused;

	Acquisition(LockRequest request, Duration waitTime, LeaseLockRegistry registry) {
		LockSettings settings = registry.settings();
		this.request = request;
		this.lease = settings.leaseOf(request);
		this.store = registry.store();
		this.keeper = registry.keeper();
		this.clock = this.keeper.clock();
		this.revoker = registry.revoker();
		this.holderName = abbreviate(settings.instance() + " [" + Thread.currentThread().getName() + "]");
		this.deadline = Deadline.after(this.clock, waitTime);
		this.backoff = new Backoff(settings.maxPollInterval());
	}

	LockRequest request() {
		return this.request;
	}

	Deadline deadline() {
		return this.deadline;
	}

	/**
	 * Call the store once.
	 * @param turn the place in the local queue, which is the first
	 * @return the lease, or {@code null} if it was not granted
	 */
	@Nullable Lease attempt(Turn turn) {
		Moment sent = this.clock.now();
		AcquireResult result = acquire(sent);
		turn.tellOthers(this.failure);
		if (!(result instanceof AcquireResult.Granted granted)) {
			return null;
		}
		Unresolved before = this.unresolved;
		// should anything go wrong from here on, the lock that is ours now is revoked
		this.unresolved = Unresolved.add(before, sent);
		Lease granting = new Lease(
				new Lease.Grant(turn, this.owner, this.lease, this.request.renew(), granted.token(), sent, before),
				this.clock, this.keeper);
		if (granting.isStale()) {
			abandon();
			this.owner = OwnerIds.next();
			failed(new StoreException(Effect.NONE, false,
					"The store answered so late that hardly anything is left of the lease", null), sent);
			return null;
		}
		keep(granting);
		this.unresolved = null;
		return granting;
	}

	private void keep(Lease granting) {
		try {
			this.keeper.keep(granting);
		}
		catch (Throwable ex) {
			this.keeper.remove(granting);
			throw ex;
		}
	}

	private @Nullable AcquireResult acquire(Moment sent) {
		try {
			AcquireResult result = this.store.acquire(new AcquireCommand(this.request.key(), this.owner, this.lease,
					this.holderName, abbreviate((this.request.reason() != null) ? this.request.reason() : "")));
			this.failure = null;
			this.failingSince = null;
			this.refused = (result instanceof AcquireResult.Refused refusal) ? refusal : null;
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

	private void failed(StoreException ex, Moment sent) {
		this.failure = ex;
		this.refused = null;
		if (this.failingSince == null) {
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
			return new LockStoreException(this.request.key(), "acquire", consequence(), this.failure);
		}
		return this.deadline.isOver() ? busy() : null;
	}

	/**
	 * The wait ended behind others of this process: the lock is busy, or nobody can tell
	 * because the first of them gets no answer.
	 * @param turn the place in the local queue
	 * @return the exception for the caller
	 */
	LockException giveUpInQueue(Turn turn) {
		StoreException outage = turn.storeFailure();
		return (outage != null) ? new LockStoreException(this.request.key(), "acquire", consequence(), outage) : busy();
	}

	/**
	 * An outage is waited for, but not for ever.
	 */
	private boolean isFailingTooLong() {
		return this.failingSince != null && this.clock.elapsedNanos(this.failingSince) > this.lease.toNanos();
	}

	private String consequence() {
		return (this.unresolved != null)
				? "The lock is not held; should the store have granted it, it is revoked or ends within "
						+ this.lease.toMillis() + " ms"
				: "The lock is not held";
	}

	private LockBusyException busy() {
		String holder = (this.refused != null) ? this.refused.holder() : null;
		return new LockBusyException(this.request.key(), this.deadline.elapsed(), holder);
	}

	/**
	 * How long to wait before the next attempt: until the holder's lease ends, but no
	 * longer than the back-off says, since it may be released or its holder die.
	 * @return the pause in nanoseconds, which ends with the wait time at the latest
	 */
	long pauseNanos() {
		long pause = this.backoff.nextNanos();
		if (this.refused != null) {
			long leaseEnd = TimeUnit.NANOSECONDS.convert(this.refused.remaining()) + TimeUnit.MILLISECONDS.toNanos(1);
			pause = Math.min(pause, leaseEnd);
		}
		return Math.max(0, Math.min(pause, this.deadline.remainingNanos()));
	}

	/**
	 * Give up whatever the store may have granted, in the background.
	 */
	void abandon() {
		if (this.unresolved != null) {
			this.revoker.revoke(this.request.key(), this.owner, this.unresolved, this.lease);
			this.unresolved = null;
		}
	}

	/**
	 * The stores keep up to 255 characters, and not all of them any character.
	 */
	private static String abbreviate(String text) {
		String shortened = (text.length() <= 255) ? text : text.substring(0, 254) + "…";
		return shortened.chars().noneMatch(Character::isISOControl) ? shortened
				: CONTROL_CHARACTERS.matcher(shortened).replaceAll(" ");
	}

}
