package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.dlock.LockLostException;
import io.dlock.engine.MachineClock.Moment;

/**
 * A lock that is held, by the handles of one thread, as long as its {@link Lease} is
 * valid. It is offered by the one before or granted by the store, then held, and then
 * either released or lost, once and for all: the state changes by one compare-and-set,
 * before anything else happens.
 */
final class Hold {

	private final Lease lease;

	private final Turn turn;

	private final long token;

	private final AtomicReference<State> state;

	private final AtomicInteger handles = new AtomicInteger(1);

	private volatile @Nullable Tenure tenure;

	private Hold(Lease lease, Turn turn, long token, State state) {
		this.lease = lease;
		this.turn = turn;
		this.token = token;
		this.state = new AtomicReference<>(state);
	}

	static Hold first(Lease lease, Turn turn) {
		return new Hold(lease, turn, lease.firstToken(), State.HELD);
	}

	/**
	 * Offer the lease to the next.
	 * @param heir the place of the next
	 * @return the next hold, or {@code null} if there is no token left for it
	 */
	@Nullable Hold next(Turn heir) {
		long next = this.token + 1;
		return (next < this.lease.firstToken() + Lease.TOKENS_PER_LEASE)
				? new Hold(this.lease, heir, next, State.OFFERED) : null;
	}

	Lease lease() {
		return this.lease;
	}

	Turn turn() {
		return this.turn;
	}

	String key() {
		return this.lease.key();
	}

	long token() {
		return this.token;
	}

	/**
	 * Remember what limits this hold or somebody wants to know of it. Set before its
	 * handle is given out.
	 * @param tenure the tenure
	 */
	void begin(Tenure tenure) {
		this.tenure = tenure;
	}

	/**
	 * What is remembered of this hold.
	 * @return the tenure, or {@code null} if there is nothing to remember
	 */
	@Nullable Tenure tenure() {
		return this.tenure;
	}

	/**
	 * The time at which it was taken; earlier by the hand-off time if it was passed on
	 * and there is no listener.
	 * @return the moment
	 */
	Moment since() {
		Tenure current = this.tenure;
		return (current != null) ? current.since() : this.lease.granted();
	}

	/**
	 * How long it has been held.
	 * @return the time, by the monotonic clock
	 */
	Duration age() {
		return Duration.ofNanos(this.lease.clock().nanoTime() - since().nanos());
	}

	/**
	 * Take what was offered.
	 * @return whether it is held now; otherwise it was withdrawn, or too late
	 */
	boolean claim() {
		return !this.lease.isTooLate() && this.state.compareAndSet(State.OFFERED, State.HELD);
	}

	/**
	 * Decline what was offered.
	 * @return whether it was on offer up to now
	 */
	boolean decline() {
		return this.state.compareAndSet(State.OFFERED, State.RELEASED);
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
		if (this.lease.isOver()) {
			this.lease.lose(this.lease.expiry());
			return false;
		}
		Tenure current = this.tenure;
		if (current == null || current.nanosLeft() > 0) {
			return true;
		}
		lose(current.overdue());
		return false;
	}

	/**
	 * How much of the validity is left if the lease is not renewed.
	 * @return nanoseconds, negative if it is over
	 */
	long validNanosLeft() {
		Tenure current = this.tenure;
		long left = this.lease.validNanosLeft();
		return (current != null) ? Math.min(left, current.nanosLeft()) : left;
	}

	/**
	 * How long the lock is to stay taken although it is not held any more.
	 * @return nanoseconds, zero or less if it may be free
	 */
	long minNanosLeft() {
		Tenure current = this.tenure;
		return (current != null) ? current.minNanosLeft() : 0;
	}

	/**
	 * Nobody ever got to see this lock.
	 */
	void unused() {
		Tenure current = this.tenure;
		if (current != null) {
			current.unused();
		}
	}

	/**
	 * Whether a holder has the lock, by the state alone.
	 * @return whether it is neither on offer nor released or lost
	 */
	boolean isHeld() {
		return this.state.get() == State.HELD;
	}

	boolean isLost() {
		return !isValid() && this.state.get() instanceof Lost;
	}

	/**
	 * Declare the lock lost, unless it is released or lost already. An offer that nobody
	 * has taken yet is withdrawn, of which nobody needs to know.
	 * @param loss how
	 * @return whether this call did it
	 */
	boolean lose(Loss loss) {
		State lost = new Lost(loss);
		if (this.state.compareAndSet(State.OFFERED, lost)) {
			return true;
		}
		if (!this.state.compareAndSet(State.HELD, lost)) {
			return false;
		}
		this.lease.watch().lost(this, loss);
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
		return new LockLostException(key(), this.token,
				(this.state.get() instanceof Lost lost) ? lost.loss.reason() : "");
	}

	/**
	 * Offered, held or released, or {@link Lost}.
	 */
	private static class State {

		private static final State OFFERED = new State();

		private static final State HELD = new State();

		private static final State RELEASED = new State();

	}

	/**
	 * Lost, and how: who declares a loss and who reads of it agree on the reason.
	 */
	private static final class Lost extends State {

		private final Loss loss;

		private Lost(Loss loss) {
			this.loss = loss;
		}

	}

}
