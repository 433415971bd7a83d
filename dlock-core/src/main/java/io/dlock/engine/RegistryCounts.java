package io.dlock.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.stream.Stream;

import io.dlock.console.LockCount;
import io.dlock.console.LockCounts;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.store.LockStore;

/**
 * The counts of a registry, made from its leases and queues when they are read.
 */
final class RegistryCounts implements LockCounts {

	private final LeaseRenewer renewer;

	private final LocalQueues queues;

	private final LockStore store;

	RegistryCounts(LeaseRenewer renewer, LocalQueues queues, LockStore store) {
		this.renewer = renewer;
		this.queues = queues;
		this.store = store;
	}

	@Override
	public Duration quarantine() {
		return this.store.quarantine().orElse(Duration.ZERO);
	}

	@Override
	public int held() {
		return this.renewer.leases().stream().mapToInt((lease) -> lease.holds().size()).sum();
	}

	@Override
	public int waiting() {
		return this.queues.waiting().size();
	}

	/**
	 * Each reader of a shared lock counts.
	 */
	@Override
	public Collection<LockCount> byName() {
		Stream<LockCount> held = this.renewer.leases()
			.stream()
			.flatMap((lease) -> lease.holds().stream())
			.map((hold) -> count(hold.context(), 1, 0, age(hold)));
		Stream<LockCount> waiting = this.queues.waiting()
			.stream()
			.map((queued) -> count(queued.context(), 0, 1, Duration.ZERO));
		return LockCount.sum(Stream.concat(held, waiting));
	}

	/**
	 * A lock that is on offer or being released has no holder.
	 */
	private static Duration age(Hold hold) {
		return hold.isHeld() ? hold.age() : Duration.ZERO;
	}

	private static LockCount count(AcquireContext context, int held, int waiting, Duration longestHold) {
		String name = context.request().name();
		return new LockCount((name != null) ? name : "", RegistryConsole.kind(context), held, waiting, longestHold);
	}

}
