package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.lease.Revoker;
import io.dlock.engine.lease.StoreReleaser;
import io.dlock.store.memory.MemoryLockStore;

/**
 * Creates calls that wait in a queue without a thread, and the releaser of a queue.
 */
public final class TestContexts {

	private TestContexts() {
	}

	public static AcquireContext of(String key, LeaseTerms terms) {
		LockRequest request = LockRequest.builder(key).lease(terms.lease()).renew(terms.renewed()).build();
		return new AcquireContext(request, Deadline.after(MachineClock.SYSTEM, LockRequest.FOREVER),
				LockSettings.defaults(), null);
	}

	/**
	 * Create a releaser of leases that no store knows.
	 */
	public static StoreReleaser releaser() {
		MemoryLockStore store = new MemoryLockStore();
		EngineThreads threads = new EngineThreads();
		return new StoreReleaser(store, new LeaseRenewer(store, MachineClock.SYSTEM, threads, new LockEvents(threads)),
				new Revoker(store, MachineClock.SYSTEM, threads, Duration.ofSeconds(1)), threads);
	}

	/**
	 * Count the requests that wait behind the first.
	 */
	static int waiters(LeaseLockRegistry registry, String key) {
		return (int) registry.queues()
			.waiting()
			.stream()
			.filter((queued) -> queued.context().key().equals(key) && !queued.isFirst() && !queued.isExpired())
			.count();
	}

	/**
	 * Release what a failed test has left, so that the next one does not find it on its
	 * thread.
	 */
	static List<LockHandle> dropHandles() {
		List<LockHandle> bound = new ArrayList<>();
		for (Optional<LockHandle> handle = LockHandle.current(); handle.isPresent(); handle = LockHandle.current()) {
			bound.add(handle.get());
			try {
				handle.get().release();
			}
			catch (LockLostException ex) {
				// is not bound any more
			}
		}
		return bound;
	}

}
