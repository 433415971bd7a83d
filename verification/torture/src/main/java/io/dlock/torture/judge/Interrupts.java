package io.dlock.torture.judge;

import java.util.HashMap;
import java.util.Map;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;

/**
 * The calls of a client that it may have interrupted itself: those that were under way,
 * or began next, however late the first call of a thread begins. A client that writes
 * down an interrupt may interrupt the thread a moment later.
 */
final class Interrupts {

	private static final long LATE = 1_000_000_000;

	private final Map<Integer, Long> begun = new HashMap<>();

	private final Map<Integer, Long> before = new HashMap<>();

	private final Map<Integer, HistoryRecord> last = new HashMap<>();

	private final Map<Integer, Attempt> underWay = new HashMap<>();

	void add(HistoryRecord interrupt) {
		this.last.put(interrupt.thread(), interrupt);
		Attempt attempt = this.underWay.get(interrupt.thread());
		if (attempt != null) {
			attempt.add(interrupt);
		}
	}

	/**
	 * Tell a call that returned whether it was interrupted, and note which is under way.
	 * @param entry the next record
	 * @param attempt the call that it is about
	 */
	void tell(HistoryRecord entry, Attempt attempt) {
		int thread = entry.thread();
		HistoryRecord interrupt = this.last.get(thread);
		if (entry.event() == Event.INVOKE) {
			Long previous = this.begun.put(thread, entry.nanos());
			this.before.put(thread, (previous != null) ? previous : 0);
			this.underWay.put(thread, attempt);
		}
		else if (entry.event() == Event.INTERRUPTED && interrupt != null
				&& interrupt.nanos() >= this.before.getOrDefault(thread, 0L) - LATE) {
			attempt.add(interrupt);
		}
		if (attempt.returned() != 0) {
			this.underWay.remove(thread);
		}
	}

}
