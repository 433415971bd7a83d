package io.dlock.autoconfigure.actuate.console;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;

/**
 * The incidents of one type: the latest of them, and the number of all of the last 15
 * minutes and of the minute that has begun.
 */
final class IncidentList {

	static final int MAX_EVENTS = 250;

	/** Of texts, with an estimate for what is around them. */
	static final int MAX_BYTES = 128 * 1024;

	private static final int MINUTES = 16;

	private static final long NANOS_OF_A_MINUTE = Duration.ofMinutes(1).toNanos();

	/** The newest first. */
	private final Deque<Incident> latest = new ArrayDeque<>();

	private long bytes;

	private final long[] counts = new long[MINUTES];

	/** The minute that each number is of. */
	private final long[] minutes = new long[MINUTES];

	void add(Incident incident) {
		this.latest.addFirst(incident);
		this.bytes += incident.bytes();
		while (this.latest.size() > MAX_EVENTS || this.bytes > MAX_BYTES) {
			this.bytes -= this.latest.removeLast().bytes();
		}
		long minute = minute(incident.nanos());
		int place = Math.floorMod(minute, MINUTES);
		if (this.minutes[place] != minute) {
			this.minutes[place] = minute;
			this.counts[place] = 0;
		}
		this.counts[place]++;
	}

	private static long minute(long nanos) {
		return Math.floorDiv(nanos, NANOS_OF_A_MINUTE);
	}

	Stream<Incident> stream() {
		return this.latest.stream();
	}

	long count(long nanos) {
		long count = 0;
		for (int i = 0; i < MINUTES; i++) {
			count += (minute(nanos) - this.minutes[i] < MINUTES) ? this.counts[i] : 0;
		}
		return count;
	}

}
