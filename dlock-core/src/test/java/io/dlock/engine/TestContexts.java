package io.dlock.engine;

import io.dlock.LockRequest;
import io.dlock.LockSettings;

/**
 * Creates calls that wait in a queue without a thread.
 */
final class TestContexts {

	private TestContexts() {
	}

	static AcquireContext of(String key, LeaseTerms terms) {
		LockRequest request = LockRequest.builder(key).lease(terms.lease()).renew(terms.renewed()).build();
		return new AcquireContext(request, LockRequest.FOREVER, LockSettings.defaults(), MachineClock.SYSTEM);
	}

}
