package io.dlock.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.LossType;
import io.dlock.engine.MachineClock.Moment;

/**
 * What the store granted to this process, for a time. It belongs to one {@link Hold}
 * after the other: who is done with it passes it on to who waits in this process, without
 * a call to the store.
 * <p>
 * <strong>Validity.</strong> The lease counts from the moment <em>before</em> the request
 * was handed to the driver, less one percent and two milliseconds for clocks that run at
 * different rates (the constants of Redlock). The store starts counting later, so that
 * the local deadline is over before the store can give the lock away.
 */
final class Lease {

	private static final int DRIFT_DIVISOR = 100;

	private static final long MARGIN_NANOS = Duration.ofMillis(2).toNanos();

	/** A lease with less than this part of it left is not used any more. */
	private static final int MIN_REMAINING_DIVISOR = 5;

	/**
	 * A lease that is not renewed is passed on only if no more than this part is over.
	 */
	private static final int MAX_USED_DIVISOR = 10;

	/** The public token leaves room for this many holders of one lease. */
	static final int TOKENS_PER_LEASE = 1024;

	/** The largest token of a store that leaves this room. */
	static final long MAX_STORE_TOKEN = Long.MAX_VALUE / TOKENS_PER_LEASE - 1;

	/** Of an offer that nobody has taken, so that nobody hears of it. */
	private static final Loss GIVEN_UP = new Loss(LossType.REFUSED, "it was given up");

	private final MachineClock clock;

	private final String owner;

	private final String key;

	private final Terms terms;

	private final long firstToken;

	private final @Nullable Unresolved unresolved;

	private final LeaseWatch watch;

	private final Moment granted;

	private volatile Hold holder;

	private volatile Moment sent;

	private volatile Moment lastSent;

	private volatile @Nullable Loss withdrawal;

	Lease(Grant grant, MachineClock clock, LeaseWatch watch) {
		this.clock = clock;
		this.watch = watch;
		this.key = grant.turn().key();
		this.owner = grant.owner();
		this.terms = grant.turn().terms();
		this.firstToken = grant.storeToken() * TOKENS_PER_LEASE;
		this.granted = grant.sent();
		this.sent = grant.sent();
		this.lastSent = grant.sent();
		this.unresolved = grant.unresolved();
		this.holder = Hold.first(this, grant.turn());
	}

	MachineClock clock() {
		return this.clock;
	}

	LeaseWatch watch() {
		return this.watch;
	}

	String key() {
		return this.key;
	}

	String owner() {
		return this.owner;
	}

	Duration length() {
		return this.terms.lease();
	}

	boolean isRenewed() {
		return this.terms.renewed();
	}

	/**
	 * The token of the first holder. The next have the next.
	 * @return the public token
	 */
	long firstToken() {
		return this.firstToken;
	}

	/**
	 * Who has the lease, or had it last.
	 * @return the holder
	 */
	Hold holder() {
		return this.holder;
	}

	/**
	 * The request that was granted.
	 * @return when it was sent
	 */
	Moment granted() {
		return this.granted;
	}

	/**
	 * The last request that is known to have started the lease in the store.
	 * @return when it was sent
	 */
	Moment sent() {
		return this.sent;
	}

	/**
	 * The last request that may have started the lease in the store, answered or not.
	 * @return when it was sent
	 */
	Moment lastSent() {
		return this.lastSent;
	}

	/**
	 * A renewal is about to be sent.
	 * @param renewalSent the time
	 */
	void renewing(Moment renewalSent) {
		this.lastSent = renewalSent;
	}

	/**
	 * Requests of the same owner that were never answered and may yet arrive.
	 * @return the requests, or {@code null}
	 */
	@Nullable Unresolved unresolved() {
		return this.unresolved;
	}

	boolean isOver() {
		return validNanosLeft() <= 0;
	}

	/**
	 * How much of the validity is left, whoever has the lease.
	 * @return nanoseconds, negative if the deadline is over
	 */
	long validNanosLeft() {
		long lease = length().toNanos();
		return lease - lease / DRIFT_DIVISOR - MARGIN_NANOS - this.clock.elapsedNanos(this.sent);
	}

	/**
	 * The loss of who has the lease when it is over.
	 * @return the loss
	 */
	Loss expiry() {
		return new Loss(LossType.EXPIRED, "its lease of " + length().toMillis() + " ms ran out");
	}

	/**
	 * Whether too little is left: a lease that was just granted waited in a queue for
	 * longer than it should have, one that is to be passed on would soon be lost.
	 * @return whether not to use it
	 */
	boolean isStale() {
		return validNanosLeft() < length().toNanos() / MIN_REMAINING_DIVISOR;
	}

	/**
	 * Whether an heir comes too late to take the lease: there must be time to renew it,
	 * which does not happen to an offer.
	 * @return whether not to take it
	 */
	boolean isTooLate() {
		return isRenewed() ? isStale() : isOver();
	}

	/**
	 * Whether an heir would get less than it asked for.
	 */
	private boolean isTooShort() {
		return isRenewed() ? isStale() : validNanosLeft() < length().toNanos() - length().toNanos() / MAX_USED_DIVISOR;
	}

	/**
	 * The store confirmed a renewal.
	 * @param renewalSent when the renewal was sent, not when it was answered
	 */
	void renewed(Moment renewalSent) {
		if (!isOver()) {
			this.sent = renewalSent;
		}
	}

	/**
	 * The lease is no longer this process's: tell the holder, and pass it on to nobody.
	 * @param loss how
	 * @return whether somebody lost the lock by this
	 */
	boolean lose(Loss loss) {
		this.withdrawal = loss;
		return this.holder.lose(loss);
	}

	/**
	 * From now on the lease is on its way back to the store, and is passed on to nobody,
	 * whatever may have become of that.
	 */
	void withdraw() {
		this.withdrawal = GIVEN_UP;
	}

	/**
	 * Offer the lease to the next in the queue, who takes it when it wakes up. Called by
	 * one holder after the other.
	 * @param heir the place of the next
	 * @param maxNanos how long after the grant the lease may be passed on, so that other
	 * processes get their turn
	 * @return the next hold, or {@code null} if this lease is not to be passed on
	 */
	@Nullable Hold passTo(Turn heir, long maxNanos) {
		if (this.withdrawal != null || !this.terms.equals(heir.terms())
				|| this.clock.elapsedNanos(this.granted) >= maxNanos || isTooShort()) {
			return null;
		}
		Hold next = this.holder.next(heir);
		if (next == null) {
			return null;
		}
		this.holder = next;
		Loss loss = this.withdrawal;
		if (loss != null) {
			next.lose(loss);
			return null;
		}
		return next;
	}

	/**
	 * What was asked for. A lease is passed on to requests for the same.
	 *
	 * @param lease how long
	 * @param renewed whether to renew it
	 */
	record Terms(Duration lease, boolean renewed) {

	}

	/**
	 * What the store granted.
	 *
	 * @param turn the place in the local queue, kept as long as the lock is held
	 * @param owner the owner
	 * @param storeToken the store's token
	 * @param sent when the request was handed to the driver
	 * @param unresolved unanswered requests of this owner, or {@code null}
	 */
	record Grant(Turn turn, String owner, long storeToken, Moment sent, @Nullable Unresolved unresolved) {

	}

}
