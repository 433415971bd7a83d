package io.dlock.engine.lease;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.dlock.LossType;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.Hold.Loss;

/**
 * A shared lease, which many holds of this process have at once: its readers. Each reader
 * has a hold of its own, with its events and limits; renewal, fencing token and loss are
 * common to all. The last reader takes the lease along.
 */
public final class SharedLease extends Lease {

	private final Set<Hold> readers = new LinkedHashSet<>();

	private Runnable onClosed = () -> {
	};

	private boolean closed;

	private volatile boolean awaited;

	/** When the store was last asked whether an exclusive request waits. */
	private volatile Moment asked;

	private volatile @Nullable Loss lastLoss;

	public SharedLease(Grant grant, MachineClock clock, Hold.LossListener lossListener) {
		super(grant, clock, lossListener);
		this.asked = grant.sent();
		this.readers.add(holder());
	}

	/**
	 * Whether the lease has the terms that a call asks for.
	 */
	public boolean isOf(LeaseTerms wanted) {
		return terms().equals(wanted);
	}

	/**
	 * Let another call of this process share the lease.
	 * @param context the call, whose terms are those of the lease
	 * @return its hold, or {@code null} if the lease is over or about to be released
	 */
	public synchronized @Nullable Hold join(AcquireContext context) {
		if (this.closed || isTooShort()) {
			return null;
		}
		Hold reader = Hold.first(this, context);
		this.readers.add(reader);
		return reader;
	}

	/**
	 * Set the action for the end of the lease, after which no call joins any more.
	 * @param action does not block
	 */
	void onClosed(Runnable action) {
		synchronized (this) {
			this.onClosed = action;
			if (!this.closed) {
				return;
			}
		}
		action.run();
	}

	/**
	 * Note an answer of the store.
	 * @param sent when it was asked
	 * @param exclusiveWaits whether an exclusive request waits, for which newcomers wait
	 * in their turn
	 */
	public void answered(Moment sent, boolean exclusiveWaits) {
		this.asked = sent;
		this.awaited = exclusiveWaits;
	}

	public boolean isAwaited() {
		return this.awaited;
	}

	/**
	 * Whether the lease was granted a short time ago. As an exclusive lease is passed on
	 * for that time, this one lets callers in, even if an exclusive request waits.
	 * @param maxNanos the time
	 */
	public boolean isNew(long maxNanos) {
		return clock().elapsedNanos(granted()) < maxNanos;
	}

	/**
	 * Whether the last answer of the store is recent.
	 * @param maxNanos the greatest age of the answer
	 * @return whether a call may join without asking the store
	 */
	boolean isFresh(long maxNanos) {
		return clock().elapsedNanos(this.asked) < maxNanos;
	}

	/**
	 * A reader that has lost the lock is one until its release, and has it no more.
	 */
	@Override
	public synchronized List<Hold> holds() {
		return this.readers.stream().filter(Hold::isHeld).toList();
	}

	@Override
	synchronized boolean isHeld() {
		return this.readers.stream().anyMatch(Hold::isHeld);
	}

	@Override
	void checkHolds() {
		holds().forEach(Hold::isValid);
	}

	@Override
	long nanosUntilEnd() {
		long left = validNanosLeft();
		for (Hold reader : holds()) {
			left = Math.min(left, reader.validNanosLeft());
		}
		return left;
	}

	@Override
	public boolean leave(Hold hold) {
		synchronized (this) {
			if (!this.readers.remove(hold) || !this.readers.isEmpty()) {
				return false;
			}
			this.closed = true;
		}
		closed();
		return true;
	}

	@Override
	boolean endsWithLoss() {
		synchronized (this) {
			if (isHeld()) {
				return false;
			}
			this.closed = true;
		}
		closed();
		return true;
	}

	/**
	 * The readers of a lease lose it one after the other. Each reaches its own
	 * {@code maxHold}.
	 */
	@Override
	public boolean isNews(Loss loss) {
		boolean news = loss.type() == LossType.MAX_HOLD || !loss.equals(this.lastLoss);
		this.lastLoss = loss;
		return news;
	}

	/**
	 * Never passed on: the store decides whether the readers that wait are next.
	 */
	@Override
	public @Nullable Hold passTo(AcquireContext successor, long maxNanos) {
		return null;
	}

	@Override
	boolean lose(Loss loss) {
		List<Hold> last;
		synchronized (this) {
			this.closed = true;
			last = holds();
		}
		closed();
		boolean lost = false;
		for (Hold reader : last) {
			lost |= reader.lose(loss);
		}
		return lost;
	}

	private void closed() {
		Runnable action;
		synchronized (this) {
			action = this.onClosed;
		}
		action.run();
	}

}
