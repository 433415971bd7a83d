package io.dlock.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.dlock.torture.server.StoreUnderTest;

/**
 * The figures that have to be back where they were when all clients are gone (I11), and
 * failures beside the histories.
 */
final class FinalChecks {

	/**
	 * Rows of free locks and fences stay, by design: at most one for each key, and of the
	 * fences no more than there are buckets.
	 */
	private static final Map<String, Integer> BOUNDS = Map.of("rows", Integer.MAX_VALUE, "fences", 1024);

	private static final String CHANNELS = "channels";

	private static final Duration LOOK_EVERY = Duration.ofMillis(20);

	private final List<String> lines = new ArrayList<>();

	/**
	 * Note what there is in the store.
	 * @param phase when
	 * @param figures the amounts by name
	 */
	void figures(String phase, Map<String, Long> figures) {
		this.lines.add("FIGURES " + phase + " "
				+ figures.entrySet()
					.stream()
					.map((figure) -> figure.getKey() + "=" + figure.getValue())
					.collect(Collectors.joining(" ")));
	}

	/**
	 * The figures of the store when nothing changes there any more. A mailbox opens, and
	 * a pool fills up, on a thread of its own, after the call that needs it.
	 * @param figures looks at the store
	 * @param quiet the time in which nothing has to change; waited for ten times as long
	 * @return the figures by their names
	 */
	static Map<String, Long> quiet(Supplier<Map<String, Long>> figures, Duration quiet) {
		long begin = System.nanoTime();
		long since = begin;
		Map<String, Long> last = figures.get();
		while (System.nanoTime() - since < quiet.toNanos() && System.nanoTime() - begin < 10 * quiet.toNanos()) {
			LockSupport.parkNanos(LOOK_EVERY.toNanos());
			Map<String, Long> next = figures.get();
			since = next.equals(last) ? since : System.nanoTime();
			last = next;
		}
		return last;
	}

	/**
	 * A process owns one mailbox, on a connection of its own. On a busy machine it may
	 * open when the warm-up is over, and a pool may not have all of its connections yet.
	 * @param figures the figures of the store
	 * @param processes the number of processes
	 * @param connections the connections that a process of a database has when it is idle
	 * @return the figures when each of them has a mailbox
	 */
	static Map<String, Long> withMailboxes(Map<String, Long> figures, int processes, int connections) {
		long missing = Math.max(0, processes - figures.getOrDefault(CHANNELS, (long) processes));
		Map<String, Long> all = new TreeMap<>(figures);
		all.computeIfPresent(CHANNELS, (name, open) -> open + missing);
		all.computeIfPresent("connections", (name, open) -> Math.max(open + missing, (long) processes * connections));
		return all;
	}

	/**
	 * Wait until there is no more in the store than before, and note whether it gets
	 * there.
	 * @param phase when this is
	 * @param before what it has to be compared with
	 * @param patience how long it may take
	 */
	void store(String phase, StoreUnderTest store, Before before, Duration patience) {
		long end = System.nanoTime() + patience.toNanos();
		Map<String, Long> after = store.figures();
		while (!before.allows(after) && System.nanoTime() < end) {
			LockSupport.parkNanos(LOOK_EVERY.toNanos());
			after = store.figures();
		}
		figures(phase, after);
		check("I11", before.allows(after),
				"store before " + before.figures() + ", " + phase + " " + after + ", most keys " + before.keys());
		if (!before.allows(after)) {
			store.details().forEach(this::note);
		}
	}

	/**
	 * Note the outcome of a check.
	 * @param holds whether it holds
	 * @param text what was checked
	 */
	void check(String invariant, boolean holds, String text) {
		this.lines.add((holds ? "OK " : "VIOLATION ") + invariant + " " + text);
	}

	/**
	 * Note something that is neither good nor bad.
	 */
	void note(String text) {
		this.lines.add("NOTE - " + text);
	}

	List<String> lines() {
		return List.copyOf(this.lines);
	}

	void write(Path file) throws IOException {
		Files.write(file, this.lines);
	}

	/**
	 * The content of the store before.
	 *
	 * @param figures the amounts by name
	 * @param keys the largest number of different keys in use
	 * @param unjudged the figures that take too long to come back
	 */
	record Before(Map<String, Long> figures, int keys, Set<String> unjudged) {

		Before with(int otherKeys) {
			return new Before(this.figures, otherKeys, this.unjudged);
		}

		private boolean allows(Map<String, Long> after) {
			return after.entrySet().stream().allMatch((figure) -> {
				long allowed = this.figures.getOrDefault(figure.getKey(), 0L)
						+ Math.min(this.keys, BOUNDS.getOrDefault(figure.getKey(), 0));
				return this.unjudged.contains(figure.getKey()) || figure.getValue() <= allowed;
			});
		}

	}

}
