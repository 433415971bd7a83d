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
 * @param waits as much of the pauses as it stood still at some time of them
 * @param faults when it suffered from any fault that may cost it a lock, and for a while
 * after
 * @param storeFaults when the store or its way to it was not well, and for a while after
 * @param turned when its clock was wrong
 */
record Client(HistoryHeader header, long last, long killed, Intervals pauses, Intervals waits, Intervals faults,
		Intervals storeFaults, Intervals turned) {

	/** A process may stand still for that part of a lease, and renews it all the same. */
	private static final int HARMLESS_PAUSE_DIVISOR = 4;

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

	/**
	 * Whether a fault may have cost it a lock. A fault that was over before the last
	 * request that can have renewed the lease is no reason.
	 * @param known the time at which the loss was known
	 * @param lease the lease of the lock
	 * @param slack the time that the machine may add to any other
	 */
	boolean isLossExcusedByFault(long known, long lease, long slack) {
		return disturbed(firstRenewal(known, lease, slack), known);
	}

	/**
	 * Whether the machine may have cost it a lock. A lease is renewed when a third of it
	 * is over, and that is tried again while any of it is left.
	 */
	boolean isLossExcusedByMachine(long known, long lease, long slack) {
		return this.pauses.covered(firstRenewal(known, lease, slack), known) > lease / HARMLESS_PAUSE_DIVISOR;
	}

	private long firstRenewal(long known, long lease, long slack) {
		return known - lease - slack - this.pauses.covered(known - 2 * lease, known);
	}

	@Override
	public String toString() {
		return "client-" + this.header.client() + "-" + this.header.incarnation();
	}

}
