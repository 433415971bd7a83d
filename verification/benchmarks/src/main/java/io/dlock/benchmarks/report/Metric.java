package io.dlock.benchmarks.report;

import java.util.Locale;

/**
 * A measured quantity.
 */
public enum Metric {

	THROUGHPUT("cycles/s", 0), P50("p50 µs", 0), P99("p99 µs", 0), MAX("max µs", 0), FAIRNESS("slowest/fastest", 2),

	ROUND_TRIPS("round trips/tick", 1), COMMANDS("commands/tick", 0), CPU("CPU ms/tick", 1),
	OUR_THREADS("our threads", 0), THREADS("threads", 0), HEAP_PER_LOCK("heap B/lock", 0), LOST("lost", 0),

	HEAP_LEFT("heap left KiB", 0), OBJECTS_LEFT("our objects left", 0), LOCKS_LEFT("locks left", 0),
	STORE_LEFT("keys or rows left", 0),

	NANOS("ns/call", 1), BYTES("B/call", 0), MILLIS("ms", 0),

	VIOLATIONS("violations", 0), ERRORS("errors", 0);

	private final String label;

	private final int decimals;

	Metric(String label, int decimals) {
		this.label = label;
		this.decimals = decimals;
	}

	public String label() {
		return this.label;
	}

	String format(double value) {
		int shown = (this.decimals == 0 && value != 0 && Math.abs(value) < 10 && value != Math.rint(value)) ? 2
				: this.decimals;
		return String.format(Locale.ROOT, "%,." + shown + "f", value);
	}

}
