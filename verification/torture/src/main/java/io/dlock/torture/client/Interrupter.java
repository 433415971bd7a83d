package io.dlock.torture.client;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;

/**
 * Interrupts threads at random, wherever they are (F26).
 */
final class Interrupter implements Runnable {

	private final HistoryWriter history;

	private final int client;

	private final List<Thread> threads;

	private final Duration average;

	private final SplittableRandom random;

	Interrupter(HistoryWriter history, ClientOptions options, List<Thread> threads) {
		this.history = history;
		this.client = options.client();
		this.threads = threads;
		this.average = options.interruptEvery();
		this.random = new SplittableRandom(options.seed() + options.client());
	}

	@Override
	public void run() {
		while (!Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(this.random.nextLong(2 * this.average.toNanos()));
			int chosen = this.random.nextInt(this.threads.size());
			this.history
				.append(HistoryRecord.of(System.nanoTime(), new Origin(this.client, chosen, 0, -1), Event.INTERRUPT));
			this.threads.get(chosen).interrupt();
		}
	}

}
