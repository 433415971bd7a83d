package io.dlock.engine;

import java.time.Duration;

/**
 * A clock that stands still until the lease is over, so that a model checker meets every
 * moment at which that may happen.
 */
final class OneTimeClock implements MachineClock {

	private static final Duration LENGTH = Duration.ofSeconds(10);

	private static final Lease.Terms TERMS = new Lease.Terms(LENGTH, true);

	private static final Acquisition WANTED = AcquisitionOfTests.of("key", TERMS);

	private volatile boolean over;

	/**
	 * Grant a lease.
	 * @param clock its clock
	 * @return the lease
	 */
	static Lease lease(MachineClock clock) {
		return new Lease(new Lease.Grant(turn(), "owner", 1000, clock.now(), null), clock, (hold, reason) -> {
		});
	}

	static Turn turn() {
		return new Turn(new LocalQueues(0, new LeftoversOfTests()), WANTED, () -> {
		});
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
