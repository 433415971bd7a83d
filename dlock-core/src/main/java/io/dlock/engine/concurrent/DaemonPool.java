package io.dlock.engine.concurrent;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Daemon threads that are started when needed. A task that fails ends no thread, and a
 * task for which none can be started is left to those that run.
 */
final class DaemonPool extends ThreadPoolExecutor {

	private static final Log logger = LogFactory.getLog(DaemonPool.class);

	private DaemonPool(int size, int maxSize, int idleSeconds, BlockingQueue<Runnable> queue, ThreadFactory threads,
			RejectedExecutionHandler onRejection) {
		super(size, maxSize, idleSeconds, TimeUnit.SECONDS, queue, threads, onRejection);
		allowCoreThreadTimeOut(idleSeconds > 0);
	}

	static DaemonPool fixed(ThreadFactory factory, String name, int size) {
		return new DaemonPool(size, size, 10, new LinkedBlockingQueue<>(), daemons(factory, name), new AbortPolicy());
	}

	static DaemonPool growing(ThreadFactory factory, String name, int maxSize) {
		GrowingQueue queue = new GrowingQueue();
		return new DaemonPool(1, maxSize, 2, queue, daemons(factory, name), queue);
	}

	/**
	 * One thread that does not end: later the machine may not be able to start another.
	 */
	static DaemonPool lasting(ThreadFactory factory, String name) {
		return new DaemonPool(1, 1, 0, new LinkedBlockingQueue<>(), daemons(factory, name), new AbortPolicy());
	}

	static ThreadFactory daemons(ThreadFactory factory, String name) {
		AtomicInteger count = new AtomicInteger();
		return (task) -> {
			Thread thread = factory.newThread(task);
			thread.setName(name + "-" + count.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		};
	}

	/**
	 * Run a task, if there is a thread.
	 * @param work the task
	 * @return {@code false} if there is no thread or the pool is closed
	 */
	boolean offer(Runnable work) {
		try {
			return tryExecute(work);
		}
		catch (OutOfMemoryError ex) {
			logger.debug("No thread could be started, the caller does the work or tries again", ex);
			return false;
		}
	}

	/**
	 * Run a task.
	 * @param work the task
	 * @return {@code false} if the pool is closed
	 * @throws OutOfMemoryError if there is no thread and none could be started
	 */
	boolean tryExecute(Runnable work) {
		Runnable task = guarded(work);
		try {
			execute(task);
			return true;
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The lock registry is closed", ex);
			return false;
		}
		catch (OutOfMemoryError ex) {
			if (leaveToOthers(task)) {
				return true;
			}
			throw ex;
		}
	}

	/**
	 * A pool fails if it cannot start another thread, although one that it has can run
	 * the task as well. A thread checks the queue once more before it ends.
	 */
	private boolean leaveToOthers(Runnable task) {
		getQueue().add(task);
		return getPoolSize() > 0 || !getQueue().remove(task);
	}

	/**
	 * A failure of one task must not end the others.
	 */
	static Runnable guarded(Runnable task) {
		return () -> {
			try {
				task.run();
			}
			catch (Throwable ex) {
				logger.warn("A background task of the lock registry failed", ex);
			}
		};
	}

}
