package io.dlock.engine.lease;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.lease.AcquireContext.LeaseTerms;

/**
 * The shared leases that calls of this process may join: the latest of each key and
 * terms.
 */
public final class SharedLeases {

	private final Map<Kind, SharedLease> leases = new ConcurrentHashMap<>();

	/**
	 * How old an answer of the store may be, and a lease that callers join regardless.
	 */
	private final long maxAgeNanos;

	public SharedLeases(long maxAgeNanos) {
		this.maxAgeNanos = maxAgeNanos;
	}

	/**
	 * Let the calls that follow join a lease until it is closed.
	 * @param lease the lease
	 * @param context the call that was granted
	 */
	public void open(SharedLease lease, AcquireContext context) {
		Kind kind = Kind.of(context);
		this.leases.put(kind, lease);
		lease.onClosed(() -> this.leases.remove(kind, lease));
	}

	/**
	 * The lease that a call may join unless the lease has just ended.
	 * @param context the call
	 * @return the lease, or {@code null} if there is none or it admits no calls
	 */
	public @Nullable SharedLease find(AcquireContext context) {
		SharedLease lease = this.leases.get(Kind.of(context));
		return (lease != null && admits(lease)) ? lease : null;
	}

	/**
	 * Whether calls may join a lease: no exclusive request waits for it, as far as is
	 * known, or it is new.
	 */
	public boolean admits(SharedLease lease) {
		return !lease.isAwaited() || lease.isNew(this.maxAgeNanos);
	}

	/**
	 * Join a lease without asking the store.
	 * @param context the call
	 * @param others whether requests of this process wait for the key, which the call
	 * passes only if the lease is new
	 * @return the hold, or {@code null} if the store has to be asked
	 */
	public @Nullable Hold join(AcquireContext context, boolean others) {
		SharedLease lease = find(context);
		return (lease != null && (others ? lease.isNew(this.maxAgeNanos) : isFresh(lease))) ? lease.join(context)
				: null;
	}

	/**
	 * Whether a call may join a lease without asking the store.
	 */
	public boolean isFresh(SharedLease lease) {
		return lease.isFresh(this.maxAgeNanos);
	}

	int size() {
		return this.leases.size();
	}

	/**
	 * The key and the terms of a lease.
	 */
	private record Kind(String storageKey, LeaseTerms terms) {

		static Kind of(AcquireContext context) {
			return new Kind(context.storageKey(), context.terms());
		}

	}

}
