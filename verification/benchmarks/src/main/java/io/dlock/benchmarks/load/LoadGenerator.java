package io.dlock.benchmarks.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

import io.dlock.benchmarks.contender.ContenderLock;

/**
 * Threads that lock and unlock as fast as they can.
 */
public final class LoadGenerator {

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private LoadGenerator() {
	}

	/**
	 * Let threads lock and unlock until the window is over.
	 * @param threads how many
	 * @param firstId the id of the first, not zero
	 * @param locks the lock of each
	 * @param exclusions what it protects
	 * @param window when to measure
	 * @return what they did
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	public static Load run(int threads, long firstId, IntFunction<ContenderLock> locks,
			IntFunction<Exclusion> exclusions, Window window) throws InterruptedException {
		List<Worker> workers = new ArrayList<>();
		List<Thread> running = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			Worker worker = new Worker(firstId + i, locks.apply(i), exclusions.apply(i));
			Thread thread = new Thread(() -> worker.run(window), "load-" + i);
			thread.setDaemon(true);
			workers.add(worker);
			running.add(thread);
		}
		running.forEach(Thread::start);
		long patience = window.until() + PATIENCE.toNanos();
		Load.Builder load = new Load.Builder();
		for (int i = 0; i < threads; i++) {
			join(running.get(i), patience);
			workers.get(i).addTo(load);
		}
		return load.build(window);
	}

	private static void join(Thread thread, long patience) throws InterruptedException {
		thread.join(Math.max(1, (patience - System.nanoTime()) / 1_000_000));
		if (thread.isAlive()) {
			IllegalStateException stuck = new IllegalStateException(thread.getName() + " does not end");
			stuck.setStackTrace(thread.getStackTrace());
			throw stuck;
		}
	}

}
