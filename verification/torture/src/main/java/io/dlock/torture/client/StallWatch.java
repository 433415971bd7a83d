package io.dlock.torture.client;

import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;

/**
 * Does nothing but look at the clock, and writes down when it could not: the process was
 * stopped, collected garbage or did not get a processor. What happened late meanwhile is
 * nobody's fault.
 */
final class StallWatch implements Runnable {

	private static final long EVERY_NANOS = 5_000_000;

	private static final long STALL_NANOS = 20_000_000;

	private final HistoryWriter history;

	private final Origin origin;

	StallWatch(HistoryWriter history, int client) {
		this.history = history;
		this.origin = new Origin(client, -1, 0, -1);
	}

	@Override
	public void run() {
		long last = System.nanoTime();
		while (!Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(EVERY_NANOS);
			long now = System.nanoTime();
			if (now - last > STALL_NANOS) {
				this.history.append(HistoryRecord.of(now, this.origin, Event.STALL).withOther(last));
			}
			last = now;
		}
	}

}
