package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a registry, all daemons and started when needed. The timer neither talks
 * to the store nor runs code of the user, so that a deadline is noticed whatever these
 * do; renewals and revocations have a thread each that nothing else can occupy.
 */
final class EngineThreads implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(EngineThreads.class);

	static final int WORKERS = 4;

	private static final int RELEASERS = 4;

	/** More outstanding releases than these are not accepted. */
	private static final int MAX_RELEASES = 256;

	static final int LISTENERS = 4;

	/** More events than these have not been told yet: news that can be missed is. */
	private static final int MAX_EVENTS = 1000;

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor renewals = lasting("dlock-renewal");

	private final ThreadPoolExecutor workers = pool("dlock-worker", WORKERS);

	private final ThreadPoolExecutor revocations = lasting("dlock-revoker");

	private final ThreadPoolExecutor releases = pool("dlock-release", RELEASERS);

	private final ThreadPoolExecutor listeners = pool("dlock-listener", LISTENERS);

	private final ThreadPoolExecutor events = pool("dlock-events", 1);

	EngineThreads() {
		this.timer = new ScheduledThreadPoolExecutor(1, daemons("dlock-timer"));
		this.timer.setRemoveOnCancelPolicy(true);
	}

	private static ThreadPoolExecutor pool(String name, int size) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				daemons(name));
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	/**
	 * A thread that stays once it was started: the machine may have none left later.
	 */
	private static ThreadPoolExecutor lasting(String name) {
		return new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons(name));
	}

	private static ThreadFactory daemons(String name) {
		AtomicInteger count = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		};
	}

	/**
	 * Run a short task that does not block after a delay.
	 * @param task the task
	 * @param delayNanos the delay
	 * @return the scheduled task, or {@code null} if the registry is closed
	 */
	@Nullable Future<?> schedule(Runnable task, long delayNanos) {
		try {
			return this.timer.schedule(guarded(task), delayNanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			return null;
		}
	}

	/**
	 * Do some work, which may block, on a worker after a delay.
	 * @param work the work
	 * @param delayNanos the delay
	 */
	void workLater(Runnable work, long delayNanos) {
		later(this.workers, work, delayNanos);
	}

	void revocationLater(Runnable work, long delayNanos) {
		later(this.revocations, work, delayNanos);
	}

	private void later(ThreadPoolExecutor pool, Runnable work, long delayNanos) {
		boolean accepted = (delayNanos > 0) ? schedule(() -> execute(pool, work), delayNanos) != null
				: execute(pool, work);
		if (!accepted) {
			logger.debug("The lock registry is closed");
		}
	}

	void renewal(Runnable work) {
		execute(this.renewals, work);
	}

	/**
	 * Do some work, which may block.
	 * @param work the work
	 * @return {@code false} if the registry is closed
	 */
	boolean work(Runnable work) {
		return execute(this.workers, work);
	}

	/**
	 * Release something in the store.
	 * @param work the work
	 * @return {@code false} if the caller has to do it, because too many are outstanding
	 * or the registry is closed
	 */
	boolean release(Runnable work) {
		return this.releases.getQueue().size() < MAX_RELEASES && execute(this.releases, work);
	}

	/**
	 * Release something in the store, for a caller that can not wait.
	 * @param work the work
	 * @return {@code false} if the registry is closed
	 */
	boolean releaseSoon(Runnable work) {
		return execute(this.releases, work);
	}

	/**
	 * Tell one of those who want to know that a lock is lost. That it can not be told
	 * concerns nobody else.
	 * @param work calls the listener
	 */
	void listener(Runnable work) {
		tell(this.listeners, work);
	}

	/**
	 * Tell of something, one after the other. That it can not be told concerns nobody
	 * else.
	 * @param work calls the listeners
	 * @return {@code false} if it is not told
	 */
	boolean event(Runnable work) {
		return tell(this.events, work);
	}

	private static boolean tell(ThreadPoolExecutor pool, Runnable work) {
		try {
			return execute(pool, work);
		}
		catch (OutOfMemoryError ex) {
			logger.warn("No thread could be started to tell listeners what happened to a lock", ex);
			return false;
		}
	}

	/**
	 * Wait for a short time until the events so far have been told.
	 * @param limit how long to wait at the most
	 */
	void awaitEvents(Duration limit) {
		CountDownLatch told = new CountDownLatch(1);
		try {
			if (this.events.getPoolSize() > 0 && event(told::countDown)
					&& !told.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
				logger.debug("Lock listeners are still busy");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	boolean hasManyEvents() {
		return this.events.getQueue().size() >= MAX_EVENTS;
	}

	private static boolean execute(ThreadPoolExecutor pool, Runnable work) {
		try {
			pool.execute(guarded(work));
			return true;
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The lock registry is closed", ex);
			return false;
		}
	}

	/**
	 * Nothing that goes wrong in one task may end the others.
	 */
	private static Runnable guarded(Runnable task) {
		return () -> {
			try {
				task.run();
			}
			catch (Throwable ex) {
				logger.warn("A background task of the lock registry failed", ex);
			}
		};
	}

	boolean isTerminated() {
		return this.timer.isTerminated() && this.renewals.isTerminated() && this.workers.isTerminated()
				&& this.releases.isTerminated() && this.revocations.isTerminated() && this.listeners.isTerminated()
				&& this.events.isTerminated();
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
		this.renewals.shutdown();
		this.workers.shutdown();
		this.releases.shutdown();
		this.revocations.shutdown();
		this.listeners.shutdown();
		this.events.shutdown();
	}

}
