package io.dlock.torture.judge;

import java.util.Comparator;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.Keys;

/**
 * I12: the history of each key is one of a fenced lock with leases. There is an order of
 * all grants and releases, each at some moment of its call, in which tokens rise, and in
 * which a lock is granted only after those that exclude it were released, or after the
 * time until which they were certain to be held, unless their holders knew before that
 * they were lost. An exclusive lock and any other exclude each other; shared locks do
 * not.
 * <p>
 * In general such an order has to be searched for. Here the tokens say in which order the
 * grants must have been, and of all moments that are possible the earliest is best for
 * all that follow. So a walk decides it, for histories of any length: exactly for
 * exclusive locks. Readers of one process have the token of the lease that they share,
 * and it is not known which of them asked the store, so that readers have no order among
 * themselves.
 * <p>
 * This is stricter than {@link Exclusion}: a holder that died must have its time as well.
 * The number of permits is judged there.
 */
final class Order {

	private final Findings findings;

	/** The earliest possible moment of the latest exclusive grant. */
	private long moment = Long.MIN_VALUE;

	private @Nullable Attempt exclusive;

	/** The shared lock since the last exclusive one that ends last. */
	private @Nullable Attempt shared;

	private Order(Findings findings) {
		this.findings = findings;
	}

	static void judge(Run run, Findings findings) {
		run.byKey().forEach((key, attempts) -> {
			if (!Keys.isLimit(key)) {
				Order order = new Order(findings);
				attempts.stream()
					.filter((attempt) -> attempt.isGranted() && attempt.token() != 0)
					.sorted(Comparator.comparingLong(Attempt::token).thenComparingLong(Attempt::returned))
					.forEach(order::next);
			}
		});
	}

	private void next(Attempt grant) {
		this.findings.judged(Invariant.I12);
		Attempt before = (grant.isExclusive() && end(this.shared) > end(this.exclusive)) ? this.shared : this.exclusive;
		long possible = Math.max(this.moment, end(before));
		if (possible > grant.returned()) {
			boolean order = end(before) <= grant.returned();
			this.findings.violation(Invariant.I12, grant.returned(),
					(order ? "%s was granted %.3f ms before %s, whose token is lower"
							: "%s was granted %.3f ms before %s can have ended")
						.formatted(grant, (possible - grant.returned()) / 1e6, order ? this.exclusive : before));
		}
		if (grant.isExclusive()) {
			this.moment = Math.min(Math.max(possible, grant.invoked()), grant.returned());
			this.exclusive = grant;
			this.shared = null;
		}
		else if (this.shared == null || end(this.shared) < end(grant)) {
			this.shared = grant;
		}
	}

	/**
	 * The earliest time at which another client can have got the lock.
	 */
	private static long end(@Nullable Attempt hold) {
		if (hold == null || hold.validUntil() == 0 || (hold.isLost() && hold.lossKnown() < hold.validUntil())) {
			return Long.MIN_VALUE;
		}
		// a downgrade that was answered too late was executed, and is told as a loss
		boolean released = hold.releaseSent() != 0 && !hold.isLostBeforeRelease();
		return released ? Math.min(hold.releaseSent(), hold.validUntil()) : hold.validUntil();
	}

}
