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

	/** How old an answer of the store may be. */
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
	 * @return the lease, or {@code null} if there is none or an exclusive request waits
	 * for it
	 */
	public @Nullable SharedLease find(AcquireContext context) {
		SharedLease lease = this.leases.get(Kind.of(context));
		return (lease != null && !lease.isAwaited()) ? lease : null;
	}

	/**
	 * Join a lease without asking the store.
	 * @param context the call
	 * @return the hold, or {@code null} if the store has to be asked
	 */
	public @Nullable Hold join(AcquireContext context) {
		SharedLease lease = find(context);
		return (lease != null && isFresh(lease)) ? lease.join(context) : null;
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
