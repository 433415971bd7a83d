package io.dlock.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import io.dlock.console.LockCounts;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.LeaseRenewer;

/**
 * The counts of a registry, made from its leases and queues when they are read.
 */
final class RegistryCounts implements LockCounts {

	/** Counts requests without a name. */
	private static final String NO_NAME = "";

	private final LeaseRenewer renewer;

	private final LocalQueues queues;

	RegistryCounts(LeaseRenewer renewer, LocalQueues queues) {
		this.renewer = renewer;
		this.queues = queues;
	}

	@Override
	public int held() {
		return this.renewer.leases().stream().mapToInt((lease) -> lease.holds().size()).sum();
	}

	@Override
	public int waiting() {
		return this.queues.waiting().size();
	}

	@Override
	public Map<String, Integer> heldByName() {
		return count(holds().map(Hold::context));
	}

	/**
	 * A lock that is on offer or being released has no holder.
	 */
	@Override
	public Map<String, Duration> longestHoldsByName() {
		Map<String, Duration> longest = new HashMap<>();
		holds().filter(Hold::isHeld)
			.forEach((hold) -> longest.merge(name(hold.context()), hold.age(),
					(one, other) -> (one.compareTo(other) >= 0) ? one : other));
		return longest;
	}

	@Override
	public Map<String, Integer> waitingByName() {
		return count(this.queues.waiting().stream().map(QueuedRequest::context));
	}

	/**
	 * Each reader of a shared lock counts.
	 */
	private Stream<Hold> holds() {
		return this.renewer.leases().stream().flatMap((lease) -> lease.holds().stream());
	}

	private static Map<String, Integer> count(Stream<AcquireContext> contexts) {
		Map<String, Integer> counts = new HashMap<>();
		contexts.forEach((context) -> counts.merge(name(context), 1, Integer::sum));
		return counts;
	}

	private static String name(AcquireContext context) {
		String name = context.request().name();
		return (name != null) ? name : NO_NAME;
	}

}
