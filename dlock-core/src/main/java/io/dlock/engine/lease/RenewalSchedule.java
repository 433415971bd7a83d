package io.dlock.engine.lease;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.concurrent.Alarm;
import io.dlock.store.RenewResult;

/**
 * The renewals of one lease: when the next is due, whether one is under way, and the
 * listeners of its loss.
 */
final class RenewalSchedule implements Comparable<RenewalSchedule> {

	/** Renewed every third of the lease, so that two renewals may fail. */
	private static final int RENEWALS_PER_LEASE = 3;

	/** A failed renewal is repeated after this part of the lease. */
	private static final int RETRIES_PER_LEASE = 12;

	/** A lease is renewed early by up to this part of it, together with others. */
	private static final int TOLERANCE_DIVISOR = 12;

	private final Lease lease;

	/** Most leases have none. */
	private @Nullable Map<HoldHandle, List<Runnable>> lossListeners;

	private long renewAt;

	/**
	 * The end of the lease unless it is renewed. Set before the lease waits for its
	 * renewal, and not changed while it does.
	 */
	private volatile long endsAt;

	private boolean renewing;

	/** Does not change while the lease waits for its renewal, either. */
	private volatile boolean unanswered;

	private boolean ended;

	/** Nothing is due before, unless a clock steps. In the past until the first check. */
	private long nextCheck;

	RenewalSchedule(Lease lease) {
		this.lease = lease;
		this.nextCheck = lease.sent().nanos();
		this.renewAt = lease.sent().nanos() + lease.length().toNanos() / RENEWALS_PER_LEASE;
	}

	Lease lease() {
		return this.lease;
	}

	/**
	 * When the first renewal is due, long before the end of the lease.
	 * @return the time by the monotonic clock
	 */
	long firstDue() {
		return this.renewAt;
	}

	/**
	 * The time until a renewal is due or the hold ends.
	 * @return nanoseconds from now, or {@link Alarm#NEVER}
	 */
	synchronized long nanosUntilDue() {
		if (this.ended) {
			return Alarm.NEVER;
		}
		long due = Math.max(0, this.lease.nanosUntilEnd());
		if (this.lease.isRenewed() && !this.renewing) {
			due = Math.min(due, Math.max(0, nanosUntilRenewal()));
		}
		return due;
	}

	/**
	 * The time until this lease has to be checked, as far as the last check knows.
	 * @param now the time by the monotonic clock
	 * @return nanoseconds, zero or less if it has to be checked now
	 */
	synchronized long nanosUntilCheck(long now) {
		return this.nextCheck - now;
	}

	/**
	 * Note that this lease has been checked.
	 * @param now the time by the monotonic clock
	 */
	synchronized void checked(long now) {
		this.nextCheck = now + Math.min(nanosUntilDue(), Long.MAX_VALUE / 2);
	}

	/**
	 * Renew a lease earlier if the wall clock, which a suspended machine does not stop,
	 * has brought it nearer to its end.
	 */
	synchronized void clockWasSet() {
		long due = dueAfter(this.lease.sent());
		if (due - this.renewAt < 0) {
			this.renewAt = due;
			this.nextCheck = this.lease.sent().nanos();
		}
	}

	/**
	 * The time of the next renewal of a lease that begins with a request.
	 */
	private long dueAfter(Moment sent) {
		return now() + this.lease.length().toNanos() / RENEWALS_PER_LEASE - this.lease.clock().elapsedNanos(sent);
	}

	private long nanosUntilRenewal() {
		return this.renewAt - now();
	}

	private long now() {
		return this.lease.clock().nanoTime();
	}

	/**
	 * Start a renewal if it is due.
	 * @return whether the lease has to be renewed now
	 */
	boolean start() {
		return start(0);
	}

	/**
	 * Start a renewal together with others, if it would soon be due.
	 * @param now the time by the monotonic clock
	 * @return whether the lease has to be renewed now
	 */
	boolean startEarly(long now) {
		long early = this.lease.length().toNanos() / TOLERANCE_DIVISOR;
		return nanosUntilCheck(now) <= early && start(early);
	}

	private synchronized boolean start(long early) {
		if (this.ended || this.renewing || !this.lease.isRenewed() || nanosUntilRenewal() > early) {
			return false;
		}
		if (!this.lease.isHeld()) {
			// on offer or being released: other processes need not wait for that
			this.renewAt = now() + this.lease.length().toNanos() / RETRIES_PER_LEASE;
			return false;
		}
		this.renewing = true;
		this.endsAt = this.lease.sent().nanos() + this.lease.length().toNanos();
		return true;
	}

	/**
	 * Whether a renewal is still worthwhile after a wait for others.
	 * @return {@code false} if the lease has ended or is over
	 */
	synchronized boolean isToBeRenewed() {
		return !this.ended && !this.lease.isOver();
	}

	/**
	 * Leases that end first are renewed first. Those whose last renewal got no answer
	 * come after the others: their part of the store may not answer at all.
	 */
	@Override
	public int compareTo(RenewalSchedule other) {
		return (this.unanswered != other.unanswered) ? Boolean.compare(this.unanswered, other.unanswered)
				: Long.signum(this.endsAt - other.endsAt);
	}

	/**
	 * Note the answer of the store. Without one the former deadline stands.
	 * @param result the answer
	 * @param sent when the renewal was sent
	 */
	void answered(RenewResult result, Moment sent) {
		if (result == RenewResult.RENEWED) {
			this.lease.renewed(sent);
		}
		schedule(result, sent);
	}

	private synchronized void schedule(RenewResult result, Moment sent) {
		long length = this.lease.length().toNanos();
		this.renewing = false;
		this.unanswered = result == RenewResult.UNKNOWN;
		this.renewAt = (result == RenewResult.RENEWED) ? dueAfter(sent) : now() + length / RETRIES_PER_LEASE;
		this.nextCheck = sent.nanos();
	}

	/**
	 * Renew again later, after a failure of this process. Allocates nothing: the memory
	 * may be exhausted.
	 */
	synchronized void retry() {
		this.renewing = false;
		this.nextCheck = this.lease.sent().nanos();
		this.renewAt = now() + this.lease.length().toNanos() / RETRIES_PER_LEASE;
	}

	/**
	 * Add a listener of a loss.
	 * @param handle the handle that is passed to the listener
	 * @return {@code false} if the lease has ended
	 */
	synchronized boolean addLossListener(HoldHandle handle, Consumer<? super LockHandle> listener) {
		if (this.ended) {
			return false;
		}
		if (this.lossListeners == null) {
			this.lossListeners = new LinkedHashMap<>(2);
		}
		return this.lossListeners.computeIfAbsent(handle, (key) -> new ArrayList<>(1))
			.add(() -> listener.accept(handle));
	}

	/**
	 * Remove the listeners of a handle that is released or lost while others keep the
	 * lease.
	 * @return the actions that call them
	 */
	synchronized List<Runnable> removeLossListeners(HoldHandle handle) {
		List<Runnable> removed = (this.lossListeners != null) ? this.lossListeners.remove(handle) : null;
		return (removed != null) ? removed : List.of();
	}

	/**
	 * Remove the listeners of a hold that is lost while others keep the lease.
	 * @return the actions that call them
	 */
	synchronized List<Runnable> removeLossListeners(Hold hold) {
		List<Runnable> removed = new ArrayList<>();
		if (this.lossListeners != null) {
			this.lossListeners.entrySet()
				.removeIf((entry) -> entry.getKey().hold() == hold && removed.addAll(entry.getValue()));
		}
		return removed;
	}

	/**
	 * End the renewals.
	 * @return the actions that call the loss listeners
	 */
	synchronized List<Runnable> end() {
		this.ended = true;
		Map<HoldHandle, List<Runnable>> removed = this.lossListeners;
		this.lossListeners = null;
		return (removed != null) ? removed.values().stream().flatMap(List::stream).toList() : List.of();
	}

}
