package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.engine.lease.LeaseInternals;

/**
 * Leases that are renewed together, when the test lets the renewals begin.
 */
abstract class AbstractRenewalBatchTests extends AbstractHandOffTests {

	final CountDownLatch blocking = new CountDownLatch(1);

	LockHandle acquire(String key, Duration lease) {
		return this.registry.acquire(LockRequest.builder(key).lease(lease).build());
	}

	List<LockHandle> acquire(String name, int many, Duration lease) {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < many; i++) {
			handles.add(acquire(name + "-" + i, lease));
		}
		return handles;
	}

	/** The rest of a lease that was renewed that long ago. */
	static Duration left(Duration lease, Duration age) {
		return lease.minus(lease.dividedBy(100)).minusMillis(2).minus(age);
	}

	/**
	 * Acquire a lock whose renewal holds up all others until the latch opens.
	 */
	LockHandle holdUpRenewals() {
		LockHandle first = acquire("first", Duration.ofMinutes(1));
		CountDownLatch renewing = new CountDownLatch(1);
		this.store.beforeRenew = () -> {
			renewing.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(this.blocking);
		};
		this.clock.pass(Duration.ofSeconds(20));
		lookAfterLeases(this.registry);
		AbstractLeaseLockRegistryTests.awaitQuietly(renewing);
		this.store.renewedTogether.clear();
		return first;
	}

	void awaitDue(int many) {
		lookAfterLeases(this.registry);
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return LeaseInternals.due(this.registry.renewer()) == many;
		});
	}

	static Duration millis(long millis) {
		return Duration.ofMillis(millis);
	}

	boolean isRenewed(LockHandle handle) {
		return handle.remaining().compareTo(Duration.ofSeconds(8)) > 0;
	}

	void awaitRenewals() {
		awaitRenewals(this.registry);
	}

	/**
	 * Keep the thread of the renewals busy until the latch opens, when it has noted the
	 * answers to those before.
	 */
	void blockRenewals(CountDownLatch end) {
		CountDownLatch blocked = new CountDownLatch(1);
		this.registry.threads().executeRenewal(() -> {
			blocked.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(end);
		});
		AbstractLeaseLockRegistryTests.awaitQuietly(blocked);
	}

}
