package io.dlock.torture.judge;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * I11 in the clients: when all locks are released, none of the objects of a lock is left,
 * and when the contender is closed, none of its threads.
 */
final class Leaks {

	static final String BASELINE = "BASELINE ";

	/** What there may be as many of as there are threads: the last one each has used. */
	private static final int KEPT_BY_THREADS = 16;

	private static final Set<String> OF_ONE_LOCK = Set.of("io.dlock.engine.Hold", "io.dlock.engine.Lease",
			"io.dlock.engine.KeptLease", "io.dlock.engine.Turn", "io.dlock.engine.HeldLock",
			"io.dlock.engine.BlockingAcquisition", "io.dlock.engine.AsyncAcquisition", "io.dlock.engine.Unresolved",
			"io.dlock.LockContext$Binding", "io.dlock.LockRequest");

	private Leaks() {
	}

	/**
	 * Look at what a client printed at its end.
	 * @param line a line of its output
	 * @return what is wrong with it
	 */
	static List<Run.Check> of(String line) {
		if (!line.startsWith(BASELINE)) {
			return List.of();
		}
		JsonNode baseline = JsonMapper.shared().readTree(line.substring(BASELINE.length()));
		List<Run.Check> leaks = new ArrayList<>();
		for (String when : List.of("idle", "closed")) {
			baseline.path(when).path("objects").properties().forEach((entry) -> {
				if (OF_ONE_LOCK.contains(entry.getKey()) && entry.getValue().asInt() > KEPT_BY_THREADS) {
					leaks.add(new Run.Check("I11", entry.getValue() + " " + entry.getKey() + " when " + when));
				}
			});
		}
		baseline.path("closed")
			.path("threads")
			.forEach((thread) -> leaks.add(new Run.Check("I11", "thread " + thread.asString() + " when closed")));
		return leaks;
	}

}
