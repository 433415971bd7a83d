package io.dlock.engine.concurrent;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * One alarm for many deadlines, as those of all leases. Most locks are released long
 * before a renewal is due: an alarm for each lease would wake the timer needlessly, and
 * cost more than the rest of an acquisition.
 */
public final class Alarm {

	public static final long NEVER = Long.MAX_VALUE;

	/** The shortest pause between two alarms. */
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
	 * @param scheduler runs the action
	 * @param clock the clock
	 * @param onAlarm the action
	 */
	public Alarm(Scheduler scheduler, MachineClock clock, Runnable onAlarm) {
		this.scheduler = scheduler;
		this.clock = clock;
		this.onAlarm = onAlarm;
	}

	public boolean isSet() {
		return this.set;
	}

	/**
	 * Whether the alarm rings in time, without a look at the clock.
	 * @param at the time by the monotonic clock
	 */
	public boolean ringsBy(long at) {
		return this.set && this.ringsAt - at <= 0;
	}

	/**
	 * Ensure that the alarm rings within this time.
	 * @param nanos nanoseconds from now, or {@link #NEVER}
	 */
	public void wakeIn(long nanos) {
		if (nanos == NEVER) {
			return;
		}
		long delay = Math.max(nanos, SHORTEST_NANOS);
		long at = this.clock.nanoTime() + delay;
		if (ringsBy(at)) {
			return;
		}
		this.setting.lock();
		try {
			if (!ringsBy(at)) {
				schedule(at, delay);
			}
		}
		finally {
			this.setting.unlock();
		}
	}

	/**
	 * The alarm is set before it is scheduled: it may ring before the scheduler has
	 * returned, and would otherwise stay set and never ring again. The former one rings
	 * if no other can be scheduled.
	 */
	private void schedule(long at, long delay) {
		Future<?> former = this.scheduled;
		this.ringsAt = at;
		this.set = true;
		try {
			this.scheduled = this.scheduler.schedule(this::ring, delay);
		}
		catch (Throwable ex) {
			this.set = false;
			throw ex;
		}
		if (former != null) {
			former.cancel(false);
		}
	}

	/**
	 * The alarm is reset first, so that a lease that comes too late for this check sets
	 * it again.
	 */
	private void ring() {
		this.set = false;
		this.onAlarm.run();
	}

	/**
	 * Runs a short task after a delay.
	 */
	@FunctionalInterface
	public interface Scheduler {

		@Nullable Future<?> schedule(Runnable task, long delayNanos);

	}

}
