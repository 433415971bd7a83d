package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
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

	/** Each of them may be waiting for the answer of the store. */
	static final int WORKERS = 32;

	private static final int RELEASERS = 4;

	/** Each of them may be blocked by code of the user. */
	static final int CALLBACKS = 256;

	/**
	 * Tasks of a stopping registry under way at once, in addition to that of its own
	 * thread.
	 */
	private static final int PARALLEL_TASKS = 15;

	/** More events than these have not been told yet: news that can be missed is. */
	private static final int MAX_EVENTS = 1000;

	/** Until it is tried again to start a thread. */
	private static final long PAUSE_WITHOUT_THREAD = TimeUnit.MILLISECONDS.toNanos(100);

	private final ThreadFactory factory;

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor renewals;

	private final GrowingPool workers;

	private final ThreadPoolExecutor revocations;

	private final ThreadPoolExecutor releases;

	private final GrowingPool callbacks;

	private final ThreadPoolExecutor events;

	EngineThreads() {
		this(Thread::new);
	}

	EngineThreads(ThreadFactory factory) {
		this.factory = factory;
		this.timer = new ScheduledThreadPoolExecutor(1, daemons("dlock-timer"));
		this.timer.setRemoveOnCancelPolicy(true);
		this.renewals = lasting("dlock-renewal");
		this.workers = new GrowingPool(WORKERS, daemons("dlock-worker"));
		this.revocations = lasting("dlock-revoker");
		this.releases = pool("dlock-release", RELEASERS);
		this.callbacks = new GrowingPool(CALLBACKS, daemons("dlock-callback"));
		this.events = pool("dlock-events", 1);
	}

	private ThreadPoolExecutor pool(String name, int size) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				daemons(name));
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	/**
	 * A thread that stays once it was started: the machine may have none left later.
	 */
	private ThreadPoolExecutor lasting(String name) {
		return new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons(name));
	}

	private ThreadFactory daemons(String name) {
		AtomicInteger count = new AtomicInteger();
		return (task) -> {
			Thread thread = this.factory.newThread(task);
			thread.setName(name + "-" + count.incrementAndGet());
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

	private void later(Executor pool, Runnable work, long delayNanos) {
		boolean accepted = (delayNanos > 0) ? schedule(() -> later(pool, work, 0), delayNanos) != null
				: executeInTheEnd(pool, work);
		if (!accepted) {
			logger.debug("The lock registry is closed");
		}
	}

	private boolean executeInTheEnd(Executor pool, Runnable work) {
		try {
			return execute(pool, work);
		}
		catch (OutOfMemoryError ex) {
			logger.debug("No thread could be started, will try again", ex);
			return schedule(() -> later(pool, work, 0), PAUSE_WITHOUT_THREAD) != null;
		}
	}

	void renewal(Runnable work) {
		execute(this.renewals, work);
	}

	/**
	 * Do some work, which may block.
	 * @param work the work
	 * @return {@code false} if the registry is closed
	 * @throws OutOfMemoryError if there is no thread and none could be started
	 */
	boolean work(Runnable work) {
		return execute(this.workers, work);
	}

	/**
	 * Release a lock in the store, for a caller that cannot wait.
	 * @param work the work
	 * @return {@code false} if the caller has to do it, because there is no thread or the
	 * registry is closed
	 */
	boolean releaseSoon(Runnable work) {
		try {
			return execute(this.releases, work);
		}
		catch (OutOfMemoryError ex) {
			logger.debug("No thread could be started to release a lock", ex);
			return false;
		}
	}

	/**
	 * Complete a future of the user, whose dependent stages may block. The calling thread
	 * does it if there is no thread, or if the registry is closed.
	 * @param work completes the future
	 */
	void callback(Runnable work) {
		boolean accepted;
		try {
			accepted = execute(this.callbacks, work);
		}
		catch (OutOfMemoryError ex) {
			logger.debug("No thread could be started to complete a future", ex);
			accepted = false;
		}
		if (!accepted) {
			guarded(work).run();
		}
	}

	/**
	 * The same for the timer, which does nothing itself: it is tried again until there is
	 * a thread.
	 * @param work completes the future
	 */
	void callbackInTheEnd(Runnable work) {
		later(this.callbacks, work, 0);
	}

	/**
	 * Tell a listener that a lock is lost. A failure to do so does not concern the lock.
	 * @param work calls the listener
	 */
	void listener(Runnable work) {
		tell(this.callbacks, work);
	}

	/**
	 * Do some work with the calling thread and with workers, as far as there are any.
	 * @param tasks the tasks
	 * @param limit when to stop waiting for the workers
	 */
	void inParallel(List<Runnable> tasks, Deadline limit) {
		Queue<Runnable> queue = new ConcurrentLinkedQueue<>(tasks);
		CountDownLatch done = new CountDownLatch(tasks.size());
		Runnable worker = () -> {
			for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
				guarded(task).run();
				done.countDown();
			}
		};
		for (int i = 1; i < Math.min(tasks.size(), PARALLEL_TASKS); i++) {
			workLater(worker, 0);
		}
		worker.run();
		try {
			if (!done.await(limit.remainingNanos(), TimeUnit.NANOSECONDS)) {
				logger.debug("The store has not answered all requests of the closing registry");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
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

	private static boolean tell(Executor pool, Runnable work) {
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

	private static boolean execute(Executor pool, Runnable work) {
		Runnable task = guarded(work);
		try {
			pool.execute(task);
			return true;
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The lock registry is closed", ex);
			return false;
		}
		catch (OutOfMemoryError ex) {
			if (pool instanceof ThreadPoolExecutor threads && leaveToOthers(threads, task)) {
				return true;
			}
			throw ex;
		}
	}

	/**
	 * No thread could be started, which a pool tries to do as long as it may have more:
	 * one that it has can do the task as well. It looks into the queue once more before
	 * it ends.
	 */
	private static boolean leaveToOthers(ThreadPoolExecutor pool, Runnable task) {
		pool.getQueue().add(task);
		return pool.getPoolSize() > 0 || !pool.getQueue().remove(task);
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
				&& this.releases.isTerminated() && this.revocations.isTerminated() && this.callbacks.isTerminated()
				&& this.events.isTerminated();
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
		this.renewals.shutdown();
		this.workers.shutdown();
		this.releases.shutdown();
		this.revocations.shutdown();
		this.callbacks.shutdown();
		this.events.shutdown();
	}

}
