package io.dlock.engine;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.memory.MemoryLockStore;

/**
 * Creates requests that wait in a queue without a thread of theirs.
 */
final class AcquisitionOfTests {

	private static final LeaseLockRegistry CLOSED = new LeaseLockRegistry(new MemoryLockStore(),
			LockSettings.defaults());

	static {
		CLOSED.close();
	}

	private AcquisitionOfTests() {
	}

	static Acquisition of(String key, Lease.Terms terms) {
		LockRequest request = LockRequest.builder(key).lease(terms.lease()).renew(terms.renewed()).build();
		return new Acquisition(request, LockRequest.FOREVER, CLOSED);
	}

}
