package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.dlock.LockLostException;
import io.dlock.engine.MachineClock.Moment;

/**
 * A lock that the store granted to this process, shared by the handles of one thread. It
 * is held, and then either released or lost, once and for all: the state changes by one
 * compare-and-set, before anything is sent to the store.
 * <p>
 * <strong>Validity.</strong> The lease counts from the moment <em>before</em> the request
 * was handed to the driver, less one percent and two milliseconds for clocks that run at
 * different rates (the constants of Redlock). The store starts counting later, so that
 * the local deadline is over before the store can give the lock away.
 */
final class Lease {

	private static final int DRIFT_DIVISOR = 100;

	private static final long MARGIN_NANOS = Duration.ofMillis(2).toNanos();

	/** A lock that is granted with less than this part of its lease left is not used. */
	private static final int MIN_REMAINING_DIVISOR = 5;

	/** The public token leaves room for this many holders of one lease. */
	static final int TOKENS_PER_LEASE = 1024;

	private final MachineClock clock;

	private final Turn turn;

	private final String owner;

	private final Duration length;

	private final boolean renewed;

	private final long token;

	private final @Nullable Unresolved unresolved;

	private final AtomicReference<State> state = new AtomicReference<>(State.HELD);

	private final AtomicInteger handles = new AtomicInteger(1);

	private final LeaseWatch watch;

	private volatile Moment sent;

	private volatile Moment lastSent;

	private volatile String lossReason = "";

	Lease(Grant grant, MachineClock clock, LeaseWatch watch) {
		this.clock = clock;
		this.watch = watch;
		this.turn = grant.turn();
		this.owner = grant.owner();
		this.length = grant.length();
		this.renewed = grant.renewed();
		this.token = Math.multiplyExact(grant.storeToken(), TOKENS_PER_LEASE);
		this.sent = grant.sent();
		this.lastSent = grant.sent();
		this.unresolved = grant.unresolved();
	}

	String key() {
		return this.turn.key();
	}

	String owner() {
		return this.owner;
	}

	Duration length() {
		return this.length;
	}

	boolean isRenewed() {
		return this.renewed;
	}

	long token() {
		return this.token;
	}

	Turn turn() {
		return this.turn;
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

	/**
	 * Whether the lock is held. The first to find that the deadline is over declares it
	 * lost.
	 * @return whether it is held
	 */
	boolean isValid() {
		if (this.state.get() != State.HELD) {
			return false;
		}
		if (validNanosLeft() > 0) {
			return true;
		}
		lose("its lease of " + this.length.toMillis() + " ms ran out");
		return false;
	}

	boolean isLost() {
		return !isValid() && this.state.get() == State.LOST;
	}

	/**
	 * How much of the validity is left, whatever the state.
	 * @return nanoseconds, negative if the deadline is over
	 */
	long validNanosLeft() {
		long lease = this.length.toNanos();
		return lease - lease / DRIFT_DIVISOR - MARGIN_NANOS - this.clock.elapsedNanos(this.sent);
	}

	/**
	 * Whether too little is left of a lease that was just granted: it waited in a queue
	 * for longer than it should have.
	 * @return whether not to use it
	 */
	boolean isStale() {
		return validNanosLeft() < this.length.toNanos() / MIN_REMAINING_DIVISOR;
	}

	/**
	 * The store confirmed a renewal.
	 * @param renewalSent when the renewal was sent, not when it was answered
	 */
	void renewed(Moment renewalSent) {
		if (isValid()) {
			this.sent = renewalSent;
		}
	}

	/**
	 * Declare the lock lost, unless it is released or lost already.
	 * @param reason how
	 * @return whether this call did it
	 */
	boolean lose(String reason) {
		if (this.state.get() != State.HELD) {
			return false;
		}
		this.lossReason = reason;
		if (!this.state.compareAndSet(State.HELD, State.LOST)) {
			return false;
		}
		this.watch.lost(this, reason);
		return true;
	}

	/**
	 * Add a nested handle.
	 * @return whether the lock is still held
	 */
	boolean retain() {
		int current = this.handles.get();
		while (current > 0) {
			if (!isValid()) {
				return false;
			}
			if (this.handles.compareAndSet(current, current + 1)) {
				return true;
			}
			current = this.handles.get();
		}
		return false;
	}

	/**
	 * Drop a handle.
	 * @return whether it was the last one
	 */
	boolean drop() {
		return this.handles.decrementAndGet() == 0;
	}

	/**
	 * Begin the release: from now on the lock is not valid, and a renewal that is refused
	 * means nothing.
	 * @return whether the lock was held up to now
	 */
	boolean beginRelease() {
		return isValid() && this.state.compareAndSet(State.HELD, State.RELEASED);
	}

	LockLostException lostException() {
		return new LockLostException(key(), this.token, this.lossReason);
	}

	private enum State {

		HELD, RELEASED, LOST

	}

	/**
	 * What the store granted.
	 *
	 * @param turn the place in the local queue, kept as long as the lease lasts
	 * @param owner the owner
	 * @param length the length of the lease
	 * @param renewed whether to renew it
	 * @param storeToken the store's token
	 * @param sent when the request was handed to the driver
	 * @param unresolved unanswered requests of this owner, or {@code null}
	 */
	record Grant(Turn turn, String owner, Duration length, boolean renewed, long storeToken, Moment sent,
			@Nullable Unresolved unresolved) {

	}

}
