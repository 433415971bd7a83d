package io.dlock.benchmarks.load;

import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import io.dlock.benchmarks.contender.ContenderLock;

/**
 * One thread that locks and unlocks until the window is over.
 */
final class Worker {

	private static final int MAX_ERRORS = 100;

	private final long id;

	private final ContenderLock lock;

	private final Exclusion exclusion;

	private final Histogram waits = new Histogram(3);

	private final Histogram cycleTimes = new Histogram(3);

	private long inWindow;

	private long total;

	private int errors;

	private @Nullable Exception lastError;

	Worker(long id, ContenderLock lock, Exclusion exclusion) {
		this.id = id;
		this.lock = lock;
		this.exclusion = exclusion;
	}

	void run(Window window) {
		try {
			while (this.errors < MAX_ERRORS && !window.isOver(System.nanoTime())) {
				try {
					cycle(window);
				}
				catch (RuntimeException ex) {
					this.errors++;
					this.lastError = ex;
					TimeUnit.MILLISECONDS.sleep(1);
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			this.errors++;
			this.lastError = ex;
		}
	}

	/**
	 * Waits that end after the window are recorded as well: leaving them out would
	 * flatter those that let a thread starve.
	 */
	private void cycle(Window window) throws InterruptedException {
		long started = System.nanoTime();
		this.lock.acquire();
		long granted = System.nanoTime();
		this.exclusion.enter(this.id);
		this.total++;
		this.exclusion.exit(this.id);
		this.lock.release();
		long ended = System.nanoTime();
		if (window.hasBegun(ended)) {
			this.waits.recordValue(granted - started);
			this.cycleTimes.recordValue(ended - started);
		}
		if (window.contains(ended)) {
			this.inWindow++;
		}
	}

	void addTo(Load.Builder load) {
		load.add(this.inWindow, this.total, this.waits, this.cycleTimes, this.errors, this.lastError);
	}

}
