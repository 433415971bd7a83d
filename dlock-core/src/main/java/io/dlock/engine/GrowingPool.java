package io.dlock.engine;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A pool that starts a thread when all it has are busy. Tasks wait only when there are as
 * many threads as there may be.
 */
final class GrowingPool implements Executor {

	private final ThreadPoolExecutor threads;

	private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

	GrowingPool(int size, ThreadFactory factory) {
		this.threads = new ThreadPoolExecutor(0, size, 2, TimeUnit.SECONDS, new SynchronousQueue<>(), factory,
				GrowingPool::reject);
	}

	/**
	 * Without the text of the default, which looks at all threads under a lock, and
	 * without a stack trace: a timer asks for ten thousand deadlines.
	 */
	private static void reject(Runnable task, ThreadPoolExecutor threads) {
		throw threads.isShutdown() ? new RejectedExecutionException("Shut down") : new AllBusyException();
	}

	/**
	 * Run a task.
	 * @param task the task, which does not throw
	 * @throws RejectedExecutionException if the pool is shut down
	 * @throws OutOfMemoryError if there is no thread and none could be started
	 */
	@Override
	public void execute(Runnable task) {
		if (isTaken(task)) {
			return;
		}
		this.waiting.add(task);
		// a thread that is busy now looks here when it is done; one that was may be gone
		boolean taken;
		try {
			taken = isTaken(() -> {
			});
		}
		catch (RejectedExecutionException ex) {
			if (this.waiting.remove(task)) {
				throw ex;
			}
			return;
		}
		if (!taken && this.threads.getPoolSize() == 0 && this.waiting.remove(task)) {
			throw new OutOfMemoryError("No thread could be started");
		}
	}

	private boolean isTaken(Runnable task) {
		try {
			this.threads.execute(() -> runWithOthers(task));
			return true;
		}
		catch (RejectedExecutionException ex) {
			if (this.threads.isShutdown()) {
				throw ex;
			}
			return false;
		}
		catch (OutOfMemoryError ex) {
			return false;
		}
	}

	private void runWithOthers(Runnable task) {
		for (Runnable next = task; next != null; next = this.waiting.poll()) {
			next.run();
		}
	}

	void shutdown() {
		this.threads.shutdown();
	}

	boolean isTerminated() {
		return this.threads.isTerminated();
	}

	private static final class AllBusyException extends RejectedExecutionException {

		@Override
		public Throwable fillInStackTrace() {
			return this;
		}

	}

}
