package io.dlock.torture.client;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.dlock.test.Starvation;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;

/**
 * Does nothing but look at the clock, and writes down when it could not: the process was
 * stopped, collected garbage or did not get a processor. An event that was late meanwhile
 * is not the fault of the locks. Another thread may be less lucky: now and then it looks
 * whether one waited for a processor.
 */
final class StallWatch implements Runnable {

	private static final long EVERY_NANOS = 5_000_000;

	private static final long STALL_NANOS = 20_000_000;

	private static final int OTHERS_EVERY = 10;

	private final HistoryWriter history;

	private final Origin origin;

	private final Starvation starvation = new Starvation();

	private final List<Long> process = List.of(ProcessHandle.current().pid());

	StallWatch(HistoryWriter history, int client) {
		this.history = history;
		this.origin = new Origin(client, -1, 0, -1);
	}

	@Override
	public void run() {
		long last = System.nanoTime();
		long looked = last;
		for (int round = 1; !Thread.currentThread().isInterrupted(); round++) {
			LockSupport.parkNanos(EVERY_NANOS);
			long now = System.nanoTime();
			if (now - last > STALL_NANOS) {
				stalled(last, now, now - last);
			}
			if (round % OTHERS_EVERY == 0) {
				long waited = this.starvation.longestSince(this.process);
				if (waited > STALL_NANOS) {
					stalled(looked - waited, now, waited);
				}
				looked = now;
			}
			last = System.nanoTime();
		}
	}

	private void stalled(long from, long to, long waited) {
		this.history.append(HistoryRecord.of(to, this.origin, Event.STALL).withOther(from).withValue(waited));
	}

}
