package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Tasks of the timer that come in bursts and may be blocked by code of the application.
 * One thread runs them, and the number of threads doubles after each pause in which tasks
 * were left: a thread for each task would cost more than the tasks of a burst do.
 */
final class BurstQueue {

	private static final long PAUSE_NANOS = Duration.ofMillis(10).toNanos();

	private final Alarm.Scheduler timer;

	private final Predicate<Runnable> pool;

	private final int maxThreads;

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final AtomicInteger running = new AtomicInteger();

	/** Used on the timer only. */
	private boolean growing;

	/**
	 * Create a queue.
	 * @param timer looks for tasks that are left
	 * @param pool starts a thread; {@code false} if there is none at the moment
	 * @param maxThreads the number of threads
	 */
	BurstQueue(Alarm.Scheduler timer, Predicate<Runnable> pool, int maxThreads) {
		this.timer = timer;
		this.pool = pool;
		this.maxThreads = maxThreads;
	}

	/**
	 * Have a task run soon. Called on the timer.
	 * @param task the task, which throws nothing
	 */
	void add(Runnable task) {
		this.tasks.add(task);
		if (!this.growing) {
			grow(1);
		}
	}

	private void grow(int threads) {
		this.growing = !this.tasks.isEmpty()
				&& this.timer.schedule(() -> grow(Math.min(2 * threads, this.maxThreads)), PAUSE_NANOS) != null;
		boolean started = true;
		while (started && !this.tasks.isEmpty() && this.running.get() < threads) {
			this.running.incrementAndGet();
			started = this.pool.test(this::run);
			if (!started) {
				this.running.decrementAndGet();
			}
		}
	}

	private void run() {
		try {
			for (Runnable task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
				task.run();
				// an interrupt that a task left does not concern the next
				Thread.interrupted();
			}
		}
		finally {
			this.running.decrementAndGet();
		}
	}

}
