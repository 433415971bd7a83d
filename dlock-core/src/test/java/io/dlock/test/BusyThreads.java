package io.dlock.test;

import java.util.stream.IntStream;

/**
 * More threads that work than there are processors.
 */
final class BusyThreads implements AutoCloseable {

	private volatile boolean done;

	BusyThreads() {
		IntStream.range(0, 4 * Runtime.getRuntime().availableProcessors())
			.mapToObj((i) -> new Thread(this::work, "busy-" + i))
			.forEach(Thread::start);
	}

	private void work() {
		while (!this.done) {
			Thread.onSpinWait();
		}
	}

	@Override
	public void close() {
		this.done = true;
	}

}
