package io.dlock.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;
import io.dlock.LossType;
import io.dlock.engine.MachineClock.Moment;
import io.dlock.store.RenewResult;

/**
 * What there is to do for a lease: renew it in time, and notice when it is over.
 */
final class KeptLease implements Comparable<KeptLease> {

	/** Renewed every third of the lease, so that two renewals may fail. */
	private static final int RENEWALS_PER_LEASE = 3;

	/** A failed renewal is repeated soon: this often in a lease. */
	private static final int RETRIES_PER_LEASE = 12;

	/** Renewed this part of the lease early if others are renewed now. */
	private static final int TOLERANCE_DIVISOR = 12;

	private final Lease lease;

	private final LeaseKeeper keeper;

	/** Most leases have none. */
	private @Nullable Map<LockHandle, List<Runnable>> lossListeners;

	private long renewAt;

	/**
	 * The end of the lease unless it is renewed. Does not change while the lease waits
	 * for its renewal.
	 */
	private volatile long endsAt;

	private boolean renewing;

	private boolean ended;

	KeptLease(Lease lease, LeaseKeeper keeper) {
		this.lease = lease;
		this.keeper = keeper;
		this.renewAt = lease.sent().nanos() + lease.length().toNanos() / RENEWALS_PER_LEASE;
		this.endsAt = lease.sent().nanos() + lease.length().toNanos();
	}

	Lease lease() {
		return this.lease;
	}

	/**
	 * Do what is due: renew, or declare lost.
	 * @return when something will be due, in nanoseconds from now
	 */
	long tend() {
		if (this.lease.isOver()) {
			this.keeper.end(this.lease, this.lease.expiry());
			return LeaseAlarm.NEVER;
		}
		// the one of now only: the next of this process has a time of its own
		this.lease.holder().isValid();
		if (startRenewal()) {
			this.keeper.renew(this);
		}
		return nanosUntilDue();
	}

	synchronized long nanosUntilDue() {
		if (this.ended) {
			return LeaseAlarm.NEVER;
		}
		long due = Math.max(0, this.lease.holder().validNanosLeft());
		if (this.lease.isRenewed() && !this.renewing) {
			due = Math.min(due, Math.max(0, nanosUntilRenewal()));
		}
		return due;
	}

	private long nanosUntilRenewal() {
		return this.renewAt - this.keeper.clock().nanoTime();
	}

	/**
	 * A little early is in time, so that leases which are due one after the other are
	 * renewed together.
	 */
	private synchronized boolean startRenewal() {
		if (this.ended || this.renewing || !this.lease.isRenewed()
				|| nanosUntilRenewal() > this.lease.length().toNanos() / TOLERANCE_DIVISOR) {
			return false;
		}
		if (!this.lease.holder().isHeld()) {
			// on offer or being released: other processes need not wait for that
			this.renewAt = this.keeper.clock().nanoTime() + this.lease.length().toNanos() / RETRIES_PER_LEASE;
			return false;
		}
		this.renewing = true;
		this.endsAt = this.lease.sent().nanos() + this.lease.length().toNanos();
		return true;
	}

	/**
	 * Whether a renewal is still worthwhile after a wait for others.
	 */
	synchronized boolean isToBeRenewed() {
		return !this.ended && !this.lease.isOver();
	}

	/**
	 * Leases that end first are renewed first.
	 */
	@Override
	public int compareTo(KeptLease other) {
		return Long.signum(this.endsAt - other.endsAt);
	}

	/**
	 * Take the store's answer to a renewal.
	 * @param result the answer
	 * @param sent when the renewal was sent
	 */
	void renewalAnswered(RenewResult result, Moment sent) {
		switch (result) {
			case RENEWED -> this.lease.renewed(sent);
			case REFUSED -> this.keeper.end(this.lease, new Loss(LossType.REFUSED,
					"the store refused its renewal, because it expired there or was taken away"));
			case UNKNOWN -> {
				// the old deadline stands
			}
		}
		endRenewal(result, sent);
		this.keeper.wakeIn(nanosUntilDue());
	}

	private synchronized void endRenewal(RenewResult result, Moment sent) {
		long length = this.lease.length().toNanos();
		this.renewing = false;
		this.renewAt = (result == RenewResult.RENEWED) ? sent.nanos() + length / RENEWALS_PER_LEASE
				: this.keeper.clock().nanoTime() + length / RETRIES_PER_LEASE;
	}

	/**
	 * Remember whom to tell of a loss.
	 * @param handle the handle to tell of
	 * @param listener whom to tell
	 * @return {@code false} if the lease has ended
	 */
	synchronized boolean addLossListener(LockHandle handle, Consumer<? super LockHandle> listener) {
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
	 * Forget the listeners of a handle that is released while others keep the lease.
	 * @param handle the handle
	 */
	synchronized void removeLossListeners(LockHandle handle) {
		if (this.lossListeners != null) {
			this.lossListeners.remove(handle);
		}
	}

	/**
	 * There is nothing to do any more.
	 * @return whom to tell if the lease is lost
	 */
	synchronized List<Runnable> end() {
		this.ended = true;
		return (this.lossListeners != null) ? this.lossListeners.values().stream().flatMap(List::stream).toList()
				: List.of();
	}

}
