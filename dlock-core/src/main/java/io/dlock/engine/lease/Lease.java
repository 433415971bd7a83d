package io.dlock.engine.lease;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.LossType;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Hold.Loss;

/**
 * A lock that the store has granted to this process for a time. The lease belongs to one
 * {@link Hold} after the other: a holder that is done passes it on to the next request of
 * this process, without a call to the store. A {@link SharedLease} belongs to many holds
 * at once.
 * <p>
 * <strong>Validity.</strong> The lease counts from the moment <em>before</em> the request
 * was handed to the driver, less one percent and two milliseconds for clocks that run at
 * different rates (the constants of Redlock). The store starts counting later, so that
 * the local deadline is over before the store can give the lock away.
 */
public class Lease {

	private static final SecureRandom RANDOM = new SecureRandom();

	private static final int DRIFT_DIVISOR = 100;

	private static final long MARGIN_NANOS = Duration.ofMillis(2).toNanos();

	/** A lease is too old to be used if less than a fifth of it is left. */
	private static final int MIN_REMAINING_DIVISOR = 5;

	/**
	 * A lease that is not renewed is passed on only if no more than a tenth is over.
	 */
	private static final int MAX_USED_DIVISOR = 10;

	/** The public token leaves room for this many holders of one lease. */
	public static final int TOKENS_PER_LEASE = 1024;

	/** The largest token of a store that leaves this room. */
	public static final long MAX_STORE_TOKEN = Long.MAX_VALUE / TOKENS_PER_LEASE - 1;

	/** Ends offers only, of which listeners are not told. */
	private static final Loss GIVEN_UP = new Loss(LossType.REFUSED, "it was given up");

	private final MachineClock clock;

	private final String owner;

	private final String key;

	private final LeaseTerms terms;

	private final long firstToken;

	private final @Nullable UnansweredRequests unanswered;

	private final Hold.LossListener lossListener;

	private final Moment granted;

	private volatile Hold holder;

	private volatile Moment sent;

	private volatile Moment lastSent;

	private volatile @Nullable Loss withdrawal;

	public Lease(Grant grant, MachineClock clock, Hold.LossListener lossListener) {
		this.clock = clock;
		this.lossListener = lossListener;
		this.key = grant.context().key();
		this.owner = grant.owner();
		this.terms = grant.context().terms();
		this.firstToken = grant.storeToken() * TOKENS_PER_LEASE;
		this.granted = grant.sent();
		this.sent = grant.sent();
		this.lastSent = grant.sent();
		this.unanswered = grant.unanswered();
		this.holder = Hold.first(this, grant.context());
	}

	/**
	 * Return the token that the store has minted for the lease of a fencing token.
	 * @param token the fencing token, which the threads of a process count up
	 * @return the token of the store
	 */
	public static long storeToken(long token) {
		return Math.floorDiv(token, TOKENS_PER_LEASE);
	}

	/**
	 * Create an owner of 128 random bits, which permits the release of a lock: it does
	 * not contain a host, process or thread.
	 * @return the owner
	 */
	public static String newOwner() {
		byte[] bits = new byte[16];
		RANDOM.nextBytes(bits);
		return HexFormat.of().formatHex(bits);
	}

	MachineClock clock() {
		return this.clock;
	}

	Hold.LossListener lossListener() {
		return this.lossListener;
	}

	String key() {
		return this.key;
	}

	public String owner() {
		return this.owner;
	}

	LeaseTerms terms() {
		return this.terms;
	}

	public Duration length() {
		return this.terms.lease();
	}

	boolean isRenewed() {
		return this.terms.renewed();
	}

	/**
	 * A lease equals itself only. This avoids the identity hash, a call to the JVM.
	 */
	@Override
	public int hashCode() {
		return Long.hashCode(this.firstToken / TOKENS_PER_LEASE);
	}

	/**
	 * The token of the first holder. The holders after it have the tokens after it.
	 * @return the public token
	 */
	public long firstToken() {
		return this.firstToken;
	}

	/**
	 * Whether others may hold the key at the same time: a shared lock or a permit.
	 */
	public boolean isMember() {
		return this.terms.isMember();
	}

	/**
	 * The holds that have the lease now.
	 * @return the holds
	 */
	public List<Hold> holds() {
		return List.of(this.holder);
	}

	/**
	 * Whether the lease has to be renewed for a holder, without a look at the clock.
	 * @return {@code false} if it is on offer, released or lost
	 */
	boolean isHeld() {
		return this.holder.isHeld();
	}

	/**
	 * Declare those holds lost whose time is over.
	 */
	void checkHolds() {
		this.holder.isValid();
	}

	/**
	 * The time until a hold is over if the lease is not renewed.
	 * @return nanoseconds, negative if it is over
	 */
	long nanosUntilEnd() {
		return this.holder.validNanosLeft();
	}

	/**
	 * Note that a hold has been released.
	 * @param hold the hold
	 * @return whether the lease has to be released now
	 */
	public boolean leave(Hold hold) {
		return true;
	}

	/**
	 * Note that a hold has been lost.
	 * @return whether the lease ends with it
	 */
	boolean endsWithLoss() {
		return true;
	}

	/**
	 * Whether a loss differs from that of the hold before.
	 * @param loss the loss
	 */
	public boolean isNews(Loss loss) {
		return true;
	}

	/**
	 * The hold that has the lease, or had it last.
	 * @return the holder
	 */
	public Hold holder() {
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
	public Moment sent() {
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
	 * Note that a renewal is about to be sent.
	 * @param renewalSent the time
	 */
	public synchronized void renewing(Moment renewalSent) {
		this.lastSent = later(this.lastSent, renewalSent);
	}

	/**
	 * Requests of the same owner that were never answered and may yet arrive.
	 * @return the requests, or {@code null}
	 */
	@Nullable UnansweredRequests unanswered() {
		return this.unanswered;
	}

	public boolean isOver() {
		return validNanosLeft() <= 0;
	}

	/**
	 * The validity that is left to this process.
	 * @return nanoseconds, negative if the deadline is over
	 */
	long validNanosLeft() {
		long lease = length().toNanos();
		return lease - lease / DRIFT_DIVISOR - MARGIN_NANOS - this.clock.elapsedNanos(this.sent);
	}

	/**
	 * The loss of the holder when the lease is over.
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
	public boolean isStale() {
		return validNanosLeft() < length().toNanos() / MIN_REMAINING_DIVISOR;
	}

	/**
	 * Whether an offer comes too late. A lease that is renewed needs time for its next
	 * renewal, since an offer is not renewed.
	 * @return whether not to accept it
	 */
	public boolean isTooLate() {
		return isRenewed() ? isStale() : isOver();
	}

	/**
	 * Whether the next holder would get less than it asked for.
	 */
	boolean isTooShort() {
		return isRenewed() ? isStale() : validNanosLeft() < length().toNanos() - length().toNanos() / MAX_USED_DIVISOR;
	}

	/**
	 * Note that the store confirmed a renewal.
	 * @param renewalSent when the renewal was sent, not when it was answered
	 */
	synchronized void renewed(Moment renewalSent) {
		if (!isOver()) {
			this.sent = later(this.sent, renewalSent);
		}
	}

	/**
	 * Two renewals may be under way at the same time.
	 */
	private static Moment later(Moment one, Moment other) {
		return (other.nanos() - one.nanos() > 0) ? other : one;
	}

	/**
	 * End the lease because it no longer belongs to this process. The holder loses the
	 * lock, and the lease is not passed on any more.
	 * @param loss the loss
	 * @return whether a holder lost the lock or an offer was withdrawn
	 */
	boolean lose(Loss loss) {
		this.withdrawal = loss;
		return this.holder.lose(loss);
	}

	/**
	 * Stop passing the lease on, because it is on its way back to the store. That is
	 * final: a call that was to give it up may have reached the store even if it failed.
	 */
	public void withdraw() {
		this.withdrawal = GIVEN_UP;
	}

	/**
	 * Offer the lease to the next call of the queue, which claims it when it wakes up.
	 * Called by one holder after the other.
	 * @param successor the next call
	 * @param maxNanos how long after the grant the lease may be passed on, so that other
	 * processes get the lock too
	 * @return the next hold, or {@code null} if this lease is not to be passed on
	 */
	public @Nullable Hold passTo(AcquireContext successor, long maxNanos) {
		if (this.withdrawal != null || !this.terms.equals(successor.terms())
				|| this.clock.elapsedNanos(this.granted) >= maxNanos || isTooShort()) {
			return null;
		}
		Hold next = this.holder.next(successor);
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
	 * A grant of the store.
	 *
	 * @param context the call that was granted
	 * @param owner the owner
	 * @param storeToken the store's token
	 * @param sent when the request was handed to the driver
	 * @param unanswered unanswered requests of this owner, or {@code null}
	 */
	public record Grant(AcquireContext context, String owner, long storeToken, Moment sent,
			@Nullable UnansweredRequests unanswered) {

	}

}
