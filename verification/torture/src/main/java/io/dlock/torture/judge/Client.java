package io.dlock.torture.judge;

import io.dlock.torture.history.HistoryHeader;

/**
 * A client process, from its start to its end.
 *
 * @param header what it said about itself
 * @param last the time of its last record
 * @param killed when it was killed at the latest, 0 if it ended in good order
 * @param pauses when it did not run: it was stopped, or noticed that it stalled, or the
 * whole machine was slow
 * @param faults when it suffered from any fault that may cost it a lock, and for a while
 * after
 * @param storeFaults when the store or its way to it was not well, and for a while after
 */
record Client(HistoryHeader header, long last, long killed, Intervals pauses, Intervals faults, Intervals storeFaults) {

	/**
	 * How long the process was able to run.
	 * @param from the begin
	 * @param to the end
	 * @return nanoseconds, negative if it ends before it begins
	 */
	long running(long from, long to) {
		return to - from - this.pauses.covered(from, to);
	}

	boolean disturbed(long from, long to) {
		return this.faults.intersects(from, to);
	}

	@Override
	public String toString() {
		return "client-" + this.header.client() + "-" + this.header.incarnation();
	}

}
