package io.dlock.engine.lease;

import java.time.Duration;
import java.util.function.Consumer;

import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.Alarm;
import io.dlock.store.LockStore;

/**
 * Parts of leases that only tests need to reach from other packages.
 */
public final class LeaseInternals {

	private LeaseInternals() {
	}

	public static Revoker revoker(LockStore store, MachineClock clock, Alarm.Scheduler scheduler,
			Consumer<Runnable> thread, Duration commandTimeout) {
		return new Revoker(store, clock, scheduler, thread, commandTimeout);
	}

	/**
	 * Check the leases as the timer does.
	 */
	public static void checkLeases(LeaseRenewer renewer) {
		renewer.checkLeases(false);
	}

	/**
	 * Compare the clocks as the timer does.
	 */
	public static void checkClocks(LeaseRenewer renewer) {
		renewer.checkClocks();
	}

	/**
	 * The number of leases whose renewal is due.
	 */
	public static int due(LeaseRenewer renewer) {
		return renewer.due();
	}

	/**
	 * The time until a lease that was granted now is renewed or ends.
	 */
	public static Duration untilDue(Lease lease) {
		return Duration.ofNanos(new RenewalSchedule(lease).nanosUntilDue());
	}

	public static Duration left(Lease lease) {
		return Duration.ofNanos(lease.validNanosLeft());
	}

	public static void expire(Lease lease) {
		lease.lose(lease.expiry());
	}

	public static boolean hasDetails(Hold hold) {
		return hold.details() != null;
	}

}
