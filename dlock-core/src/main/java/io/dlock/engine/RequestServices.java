package io.dlock.engine;

import java.util.concurrent.TimeUnit;

import io.dlock.LockSettings;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.lease.Revoker;
import io.dlock.engine.lease.SharedLeases;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.MemberQueues;

/**
 * The services that all requests of a registry use. Each request has this one object, not
 * a field for each of them.
 */
record RequestServices(LockSettings settings, MachineClock clock, LocalQueues queues, StoreAcquirer store,
		LeaseLifecycle leases, Revoker revoker, MemberQueues members, SharedLeases shared, LeaseLockHandles handles,
		LockEvents events, EngineThreads threads) {

	/** A call to a database may wait for a connection before it has its own time. */
	private static final long CONNECTION_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * More than any call to the store takes. A call that is longer shows that this
	 * process was paused: the store may have answered, and the answer was not read.
	 */
	long longestCallNanos() {
		return CONNECTION_NANOS + 2 * this.settings.commandTimeout().toNanos();
	}

}
