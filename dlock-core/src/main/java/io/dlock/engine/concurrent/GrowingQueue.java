package io.dlock.engine.concurrent;

import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * The queue of a pool that starts a thread when all it has are busy. Tasks wait here only
 * when the pool has as many threads as it may have: the pool rejects them then.
 */
@SuppressWarnings("serial") // never serialized
final class GrowingQueue extends LinkedTransferQueue<Runnable> implements RejectedExecutionHandler {

	/**
	 * Give a task to an idle thread.
	 */
	@Override
	public boolean offer(Runnable task) {
		return tryTransfer(task);
	}

	@Override
	public boolean add(Runnable task) {
		return super.offer(task);
	}

	/**
	 * All threads that were busy may be gone when the task has been added.
	 */
	@Override
	public void rejectedExecution(Runnable task, ThreadPoolExecutor pool) {
		boolean lost = pool.isShutdown();
		if (!lost) {
			add(task);
			lost = pool.isShutdown() && remove(task);
		}
		if (lost) {
			throw new RejectedExecutionException("Shut down");
		}
		try {
			if (pool.getPoolSize() == 0) {
				pool.prestartCoreThread();
			}
		}
		catch (OutOfMemoryError ex) {
			if (remove(task)) {
				throw ex;
			}
		}
	}

}
