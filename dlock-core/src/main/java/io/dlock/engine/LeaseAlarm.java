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

	private final EngineThreads threads;

	private final MachineClock clock;

	private final Runnable onAlarm;

	private final ReentrantLock setting = new ReentrantLock();

	private volatile boolean set;

	private volatile long ringsAt;

	private @Nullable Future<?> scheduled;

	/**
	 * Create the alarm.
	 * @param threads the threads, of which the timer is used
	 * @param clock the clock
	 * @param onAlarm what to do when it rings
	 */
	LeaseAlarm(EngineThreads threads, MachineClock clock, Runnable onAlarm) {
		this.threads = threads;
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

	private void schedule(long at, long delay) {
		if (this.scheduled != null) {
			this.scheduled.cancel(false);
		}
		this.ringsAt = at;
		this.scheduled = this.threads.schedule(this::ring, delay);
		this.set = true;
	}

	/**
	 * From here on a lease that is new sets the alarm itself, since it may come too late
	 * to be looked at now.
	 */
	private void ring() {
		this.set = false;
		this.onAlarm.run();
	}

}
