package io.dlock.store.quorum;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * The threads that wait for the answers of one node. They are few, and end when they are
 * idle. Four more are for renewals, which must not wait behind acquires.
 */
final class NodeThreads implements Executor, AutoCloseable {

	private static final int THREADS = 8;

	private static final int WAITING_COMMANDS = 10_000;

	private static final int RENEWAL_THREADS = 4;

	private static final int IDLE_SECONDS = 10;

	private final ThreadPoolExecutor pool;

	private final ThreadPoolExecutor renewals;

	private NodeThreads(int node) {
		this.pool = pool(THREADS, "dlock-node-" + node + "-");
		this.renewals = pool(RENEWAL_THREADS, "dlock-node-" + node + "-renewals-");
	}

	private static ThreadPoolExecutor pool(int threads, String name) {
		AtomicInteger count = new AtomicInteger();
		ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(WAITING_COMMANDS), (task) -> {
					Thread thread = new Thread(null, task, name + count.incrementAndGet(), 0, false);
					thread.setDaemon(true);
					return thread;
				});
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	static List<NodeThreads> create(int nodes) {
		return IntStream.rangeClosed(1, nodes).mapToObj(NodeThreads::new).toList();
	}

	@Override
	public void execute(Runnable command) {
		this.pool.execute(command);
	}

	Executor renewals() {
		return this.renewals;
	}

	/**
	 * Take no more commands. Those that wait are still sent: releases are among them.
	 */
	@Override
	public void close() {
		this.pool.shutdown();
		this.renewals.shutdown();
	}

	/**
	 * Wait for the commands that are under way.
	 * @param nanos the longest wait
	 */
	void await(long nanos) {
		long end = System.nanoTime() + nanos;
		try {
			this.pool.awaitTermination(nanos, TimeUnit.NANOSECONDS);
			this.renewals.awaitTermination(end - System.nanoTime(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
