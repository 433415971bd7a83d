package io.dlock.engine;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The one alarm of all leases. Most locks are released long before anything is due for
 * them: setting an alarm for each would wake the timer for nothing, and cost more than
 * the rest of an acquisition.
 */
final class LeaseAlarm {

	static final long NEVER = Long.MAX_VALUE;

	/** Not more often, however many leases end one after the other. */
	private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final Scheduler scheduler;

	private final MachineClock clock;

	private final Runnable onAlarm;

	private final ReentrantLock setting = new ReentrantLock();

	private volatile boolean set;

	private volatile long ringsAt;

	private @Nullable Future<?> scheduled;

	/**
	 * Create the alarm.
	 * @param scheduler what rings it
	 * @param clock the clock
	 * @param onAlarm what to do when it rings
	 */
	LeaseAlarm(Scheduler scheduler, MachineClock clock, Runnable onAlarm) {
		this.scheduler = scheduler;
		this.clock = clock;
		this.onAlarm = onAlarm;
	}

	/**
	 * Ring at that time at the latest.
	 * @param nanos nanoseconds from now, or {@link #NEVER}
	 */
	void wakeIn(long nanos) {
		if (nanos == NEVER) {
			return;
		}
		long delay = Math.max(nanos, SHORTEST_NANOS);
		long at = this.clock.nanoTime() + delay;
		if (this.set && this.ringsAt - at <= 0) {
			return;
		}
		this.setting.lock();
		try {
			if (!this.set || this.ringsAt - at > 0) {
				schedule(at, delay);
			}
		}
		finally {
			this.setting.unlock();
		}
	}

	/**
	 * It is set before it is scheduled: it may ring before the scheduler has returned,
	 * and would then count as set for ever and never ring again.
	 */
	private void schedule(long at, long delay) {
		if (this.scheduled != null) {
			this.scheduled.cancel(false);
		}
		this.ringsAt = at;
		this.set = true;
		try {
			this.scheduled = this.scheduler.schedule(this::ring, delay);
		}
		catch (Throwable ex) {
			this.set = false;
			throw ex;
		}
	}

	/**
	 * From here on a lease that is new sets the alarm itself, since it may come too late
	 * to be looked at now.
	 */
	private void ring() {
		this.set = false;
		this.onAlarm.run();
	}

	/**
	 * Runs a short task after a delay.
	 */
	@FunctionalInterface
	interface Scheduler {

		@Nullable Future<?> schedule(Runnable task, long delayNanos);

	}

}
