package io.dlock.engine.lease;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.dlock.LockException;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LossType;
import io.dlock.engine.concurrent.MachineClock.Moment;

/**
 * A lock that is held, by the handles of one thread, as long as its {@link Lease} is
 * valid. A hold is offered by its predecessor or granted by the store, then held, and
 * then either released or lost, which is final: the state changes by one compare-and-set,
 * before anything else happens.
 */
public final class Hold {

	private final Lease lease;

	private final AcquireContext context;

	private final long token;

	private final AtomicReference<State> state;

	private final AtomicInteger handles = new AtomicInteger(1);

	private volatile @Nullable HoldDetails details;

	private Hold(Lease lease, AcquireContext context, long token, State state) {
		this.lease = lease;
		this.context = context;
		this.token = token;
		this.state = new AtomicReference<>(state);
	}

	static Hold first(Lease lease, AcquireContext context) {
		return new Hold(lease, context, lease.firstToken(), State.HELD);
	}

	/**
	 * Offer the lease to the next call.
	 * @param successor the call
	 * @return the next hold, or {@code null} if there is no token left for it
	 */
	@Nullable Hold next(AcquireContext successor) {
		long next = this.token + 1;
		return (next < this.lease.firstToken() + Lease.TOKENS_PER_LEASE)
				? new Hold(this.lease, successor, next, State.OFFERED) : null;
	}

	public Lease lease() {
		return this.lease;
	}

	/**
	 * The call that holds the lock.
	 * @return the call
	 */
	public AcquireContext context() {
		return this.context;
	}

	public String key() {
		return this.lease.key();
	}

	public long token() {
		return this.token;
	}

	/**
	 * Set the details. Done before the handle is given out.
	 * @param details the details
	 */
	public void details(HoldDetails details) {
		this.details = details;
	}

	/**
	 * The details of this hold.
	 * @return the details, or {@code null} if the hold has no limits and there are no
	 * listeners
	 */
	@Nullable HoldDetails details() {
		return this.details;
	}

	/**
	 * The beginning of this hold. Without details it is the grant of the lease, which is
	 * earlier if the lease was passed on.
	 * @return the moment
	 */
	public Moment since() {
		HoldDetails current = this.details;
		return (current != null) ? current.since() : this.lease.granted();
	}

	/**
	 * The age of this hold by the monotonic clock.
	 * @return the time since it began
	 */
	public Duration age() {
		return Duration.ofNanos(this.lease.clock().nanoTime() - since().nanos());
	}

	/**
	 * Accept the offer.
	 * @return whether the lock is held now; otherwise the offer was withdrawn, or it is
	 * too late
	 */
	public boolean claim() {
		return !this.lease.isTooLate() && this.state.compareAndSet(State.OFFERED, State.HELD);
	}

	/**
	 * Decline the offer.
	 * @return whether the offer stood up to now
	 */
	public boolean decline() {
		return this.state.compareAndSet(State.OFFERED, State.RELEASED);
	}

	/**
	 * Whether the lock is held. The first caller after the deadline declares it lost.
	 * @return whether it is held
	 */
	public boolean isValid() {
		if (this.state.get() != State.HELD) {
			return false;
		}
		if (this.lease.isOver()) {
			this.lease.lose(this.lease.expiry());
			return false;
		}
		HoldDetails current = this.details;
		if (current == null || current.maxHoldNanosLeft() > 0) {
			return true;
		}
		lose(new Loss(LossType.MAX_HOLD, current.maxHoldExceeded()));
		return false;
	}

	/**
	 * The validity that is left if the lease is not renewed.
	 * @return nanoseconds, negative if it is over
	 */
	public long validNanosLeft() {
		HoldDetails current = this.details;
		long left = this.lease.validNanosLeft();
		return (current != null) ? Math.min(left, current.maxHoldNanosLeft()) : left;
	}

	/**
	 * The rest of the {@code minHold}, for which the lock stays taken after its release.
	 * @return nanoseconds, zero or less if the lock may be free
	 */
	public long minHoldNanosLeft() {
		HoldDetails current = this.details;
		return (current != null) ? current.minHoldNanosLeft() : 0;
	}

	/**
	 * Drop the {@code minHold} of a lock whose handle was never given out.
	 */
	public void waiveMinHold() {
		HoldDetails current = this.details;
		if (current != null) {
			current.waiveMinHold();
		}
	}

	/**
	 * Whether the lock is held according to its state, without a look at the clock.
	 * @return whether it is neither on offer nor released or lost
	 */
	public boolean isHeld() {
		return this.state.get() == State.HELD;
	}

	/**
	 * Whether the lock has been released, or its offer declined.
	 */
	public boolean isReleased() {
		return this.state.get() == State.RELEASED;
	}

	public boolean isLost() {
		return !isValid() && this.state.get() instanceof Lost;
	}

	/**
	 * Declare the lock lost, unless it is released or lost already. An offer that has not
	 * been accepted is withdrawn without notifying the listener.
	 * @param loss the loss
	 * @return whether this call changed the state
	 */
	boolean lose(Loss loss) {
		State lost = new Lost(loss);
		if (this.state.compareAndSet(State.OFFERED, lost)) {
			return true;
		}
		if (!this.state.compareAndSet(State.HELD, lost)) {
			return false;
		}
		this.lease.lossListener().onLoss(this, loss);
		return true;
	}

	/**
	 * Add a nested handle.
	 * @return whether the lock is still held
	 */
	public boolean retain() {
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
	public boolean drop() {
		return this.handles.decrementAndGet() == 0;
	}

	/**
	 * Drop the handle if it is the only one.
	 * @return whether it was
	 */
	public boolean dropLast() {
		return this.handles.compareAndSet(1, 0);
	}

	/**
	 * Begin the release: from now on the lock is not valid, and a renewal that is refused
	 * means nothing.
	 * @return whether the lock was held up to now
	 */
	public boolean beginRelease() {
		return isValid() && this.state.compareAndSet(State.HELD, State.RELEASED);
	}

	public LockLostException lostException() {
		return new LockLostException(key(), this.token,
				(this.state.get() instanceof Lost lost) ? lost.loss.reason() : "");
	}

	/**
	 * The exception for a caller that has lost this lock before it was granted the others
	 * of its set.
	 */
	public LockException lossOfSet() {
		return (this.state.get() instanceof Lost lost && lost.loss.type() == LossType.SHUTDOWN)
				? new LockRegistryClosedException(key()) : lostException();
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
	 * Lost, and how. One object holds both, so that all readers see the same reason.
	 */
	private static final class Lost extends State {

		private final Loss loss;

		private Lost(Loss loss) {
			this.loss = loss;
		}

	}

	/**
	 * Receives the loss of a lock, on the thread that finds it. Does not block.
	 */
	@FunctionalInterface
	public interface LossListener {

		void onLoss(Hold hold, Loss loss);

		/**
		 * Receives the end of a lease that has not been released in the store.
		 * @param last the last hold of the lease, lost or released
		 */
		default void onEnd(Hold last) {
		}

	}

	/**
	 * The cause of a loss.
	 *
	 * @param type the type, for metrics
	 * @param reason the reason, for messages
	 */
	public record Loss(LossType type, String reason) {

	}

}
