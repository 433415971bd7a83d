package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a registry, all daemons and started when needed. The timer neither calls
 * the store nor runs code of the application, so that neither can delay a deadline;
 * renewals and revocations have a thread each that no other task can occupy.
 */
public final class EngineThreads implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(EngineThreads.class);

	/** Each of them may wait for the answer of the store. */
	public static final int WORKERS = 32;

	/** Each acquire has a release, and a lock stays taken while its release waits. */
	private static final int RELEASERS = WORKERS;

	/** Each of them may be blocked by code of the application. */
	public static final int CALLBACKS = 256;

	/** Callbacks that block do not keep a holder from learning of a loss. */
	public static final int LISTENERS = 32;

	/**
	 * Tasks of a stopping registry under way at once, in addition to that of its own
	 * thread.
	 */
	private static final int PARALLEL_TASKS = 15;

	/** With more events than this in the queue, renewals are not announced. */
	private static final int MAX_EVENTS = 1000;

	/** The pause before another attempt to start a thread. */
	private static final long PAUSE_WITHOUT_THREAD = TimeUnit.MILLISECONDS.toNanos(100);

	private final ScheduledThreadPoolExecutor timer;

	private final DaemonPool renewals;

	private final DaemonPool workers;

	private final DaemonPool revocations;

	private final DaemonPool releases;

	private final DaemonPool callbacks;

	private final DaemonPool listeners;

	private final DaemonPool events;

	private final BurstQueue expired;

	/** The thread that publishes an event. */
	private volatile @Nullable Thread publisher;

	public EngineThreads() {
		this(EngineThreads::thread);
	}

	/**
	 * A thread is the same for all callers: it inherits no thread-locals of the one that
	 * needs it first, such as its user.
	 */
	private static Thread thread(Runnable task) {
		Thread thread = new Thread(null, task, "dlock", 0, false);
		thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
		return thread;
	}

	public EngineThreads(ThreadFactory factory) {
		this.timer = new ScheduledThreadPoolExecutor(1, DaemonPool.daemons(factory, "dlock-timer"));
		this.timer.setRemoveOnCancelPolicy(true);
		this.renewals = DaemonPool.lasting(factory, "dlock-renewal");
		this.workers = DaemonPool.growing(factory, "dlock-worker", WORKERS);
		this.revocations = DaemonPool.lasting(factory, "dlock-revoker");
		this.releases = DaemonPool.growing(factory, "dlock-release", RELEASERS);
		this.callbacks = DaemonPool.growing(factory, "dlock-callback", CALLBACKS);
		this.listeners = DaemonPool.growing(factory, "dlock-listener", LISTENERS);
		this.events = DaemonPool.fixed(factory, "dlock-events", 1);
		this.expired = new BurstQueue(this::schedule, this.callbacks::offer, CALLBACKS);
	}

	/**
	 * Run a short task that does not block after a delay.
	 * @param task the task
	 * @param delayNanos the delay
	 * @return the scheduled task, or {@code null} if the registry is closed
	 */
	public @Nullable Future<?> schedule(Runnable task, long delayNanos) {
		try {
			return this.timer.schedule(DaemonPool.guarded(task), delayNanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			return null;
		}
	}

	/**
	 * Run a task that may block on a worker after a delay.
	 * @param work the work
	 * @param delayNanos the delay
	 */
	public void scheduleWork(Runnable work, long delayNanos) {
		schedule(this.workers, work, delayNanos);
	}

	public void scheduleRevocation(Runnable work, long delayNanos) {
		schedule(this.revocations, work, delayNanos);
	}

	private void schedule(DaemonPool pool, Runnable work, long delayNanos) {
		if (delayNanos > 0 || !pool.offer(work)) {
			long pause = (delayNanos > 0) ? delayNanos : PAUSE_WITHOUT_THREAD;
			if (schedule(() -> schedule(pool, work, 0), pause) == null) {
				logger.debug("The lock registry is closed");
			}
		}
	}

	public void executeRenewal(Runnable work) {
		this.renewals.tryExecute(work);
	}

	/**
	 * Run a task that may block on a worker.
	 * @param work the work
	 * @return {@code false} if the registry is closed
	 * @throws OutOfMemoryError if there is no thread and none could be started
	 */
	public boolean executeWork(Runnable work) {
		return this.workers.tryExecute(work);
	}

	/**
	 * Release a lock in the store, for a caller that cannot wait.
	 * @param work the work
	 * @return {@code false} if there is no thread or the registry is closed, so that the
	 * caller has to do the work
	 */
	public boolean tryExecuteRelease(Runnable work) {
		return this.releases.offer(work);
	}

	/**
	 * Complete a future whose dependent stages may block. The calling thread completes it
	 * if there is no thread or the registry is closed.
	 * @param work completes the future
	 */
	public void executeCallback(Runnable work) {
		if (!this.callbacks.offer(work)) {
			DaemonPool.guarded(work).run();
		}
	}

	/**
	 * As {@link #executeCallback} for the timer, which must not complete a future itself:
	 * it is completed as soon as there is a thread.
	 * @param work completes the future of a request whose time is over
	 */
	public void executeTimerCallback(Runnable work) {
		this.expired.add(DaemonPool.guarded(work));
	}

	/**
	 * Tell a listener that a lock is lost. A failure does not concern the lock. Without a
	 * thread for listeners one for callbacks tells it, and the calling thread if the
	 * registry is closed.
	 * @param work calls the listener
	 */
	public void notifyListener(Runnable work) {
		if (this.listeners.offer(work)) {
			return;
		}
		if (this.listeners.isShutdown()) {
			DaemonPool.guarded(work).run();
		}
		else {
			tell(this.callbacks, work);
		}
	}

	/**
	 * Run tasks on the calling thread and on available workers.
	 * @param tasks the tasks
	 * @param limit when to stop waiting for the workers
	 */
	public void inParallel(List<Runnable> tasks, Deadline limit) {
		Queue<Runnable> queue = new ConcurrentLinkedQueue<>(tasks);
		CountDownLatch done = new CountDownLatch(tasks.size());
		Runnable worker = () -> {
			for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
				DaemonPool.guarded(task).run();
				done.countDown();
			}
		};
		for (int i = 1; i < Math.min(tasks.size(), PARALLEL_TASKS); i++) {
			scheduleWork(worker, 0);
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
	 * Publish an event, one after the other. A failure does not concern the lock.
	 * @param work calls the listeners
	 * @return {@code false} if the event is not published
	 */
	public boolean publishEvent(Runnable work) {
		return tell(this.events, () -> {
			this.publisher = Thread.currentThread();
			try {
				work.run();
			}
			finally {
				this.publisher = null;
			}
		});
	}

	/**
	 * Whether the calling thread publishes an event, so that it must not wait for its
	 * end.
	 */
	public boolean isPublishing() {
		return this.publisher == Thread.currentThread();
	}

	private static boolean tell(DaemonPool pool, Runnable work) {
		try {
			return pool.tryExecute(work);
		}
		catch (OutOfMemoryError ex) {
			logger.warn("No thread could be started to notify a listener, which is skipped", ex);
			return false;
		}
	}

	/**
	 * Wait for a short time until the events so far have been published. A listener does
	 * not wait.
	 * @param limit how long to wait
	 */
	public void awaitEvents(Duration limit) {
		CountDownLatch told = new CountDownLatch(1);
		try {
			if (!isPublishing() && this.events.getPoolSize() > 0 && publishEvent(told::countDown)
					&& !told.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
				logger.debug("Lock listeners are still busy");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	public boolean hasManyEvents() {
		return this.events.getQueue().size() >= MAX_EVENTS;
	}

	public boolean isTerminated() {
		return pools().allMatch(ThreadPoolExecutor::isTerminated);
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
		pools().forEach(ThreadPoolExecutor::shutdown);
	}

	private Stream<ThreadPoolExecutor> pools() {
		return Stream.of(this.timer, this.renewals, this.workers, this.releases, this.revocations, this.callbacks,
				this.listeners, this.events);
	}

}
