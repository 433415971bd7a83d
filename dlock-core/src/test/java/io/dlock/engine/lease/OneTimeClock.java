package io.dlock.engine.lease;

import java.time.Duration;

import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.TestContexts;
import io.dlock.engine.concurrent.MachineClock;

/**
 * A clock that stands still until the lease is over, so that a model checker tries every
 * moment for that.
 */
final class OneTimeClock implements MachineClock {

	private static final Duration LENGTH = Duration.ofSeconds(10);

	private static final LeaseTerms TERMS = new LeaseTerms(LENGTH, true);

	private static final AcquireContext CONTEXT = TestContexts.of("key", TERMS);

	private volatile boolean over;

	/**
	 * Grant a lease.
	 */
	static Lease lease(MachineClock clock) {
		return new Lease(new Lease.Grant(context(), "owner", 1000, clock.now(), null), clock, (hold, reason) -> {
		});
	}

	static AcquireContext context() {
		return CONTEXT;
	}

	void end() {
		this.over = true;
	}

	@Override
	public long nanoTime() {
		return this.over ? LENGTH.toNanos() : 0;
	}

	@Override
	public long wallMillis() {
		return 0;
	}

}
