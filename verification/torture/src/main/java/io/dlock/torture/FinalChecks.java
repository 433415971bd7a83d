package io.dlock.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import io.dlock.torture.server.StoreUnderTest;

/**
 * What has to be back where it was when all clients are gone (I11), and what else went
 * wrong beside the histories.
 */
final class FinalChecks {

	/**
	 * Rows of free locks and fences stay, by design: at most one for each key, and of the
	 * fences no more than there are buckets.
	 */
	private static final Map<String, Integer> BOUNDS = Map.of("rows", Integer.MAX_VALUE, "fences", 1024);

	private final List<String> lines = new ArrayList<>();

	/**
	 * Wait until the store is as before, and note whether it gets there.
	 * @param store the store
	 * @param before its figures before the first client
	 * @param keys how many different keys were used at the most
	 * @param patience how long it may take
	 */
	void store(StoreUnderTest store, Map<String, Long> before, int keys, Duration patience) {
		long end = System.nanoTime() + patience.toNanos();
		Map<String, Long> after = store.figures();
		while (!isBack(before, after, keys) && System.nanoTime() < end) {
			LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
			after = store.figures();
		}
		check("I11", isBack(before, after, keys),
				"store before " + before + ", after " + after + ", keys at the most " + keys);
	}

	private static boolean isBack(Map<String, Long> before, Map<String, Long> after, int keys) {
		return after.entrySet().stream().allMatch((figure) -> {
			long allowed = before.getOrDefault(figure.getKey(), 0L)
					+ Math.min(keys, BOUNDS.getOrDefault(figure.getKey(), 0));
			return figure.getValue() <= allowed;
		});
	}

	/**
	 * Note the outcome of a check.
	 * @param invariant the invariant
	 * @param holds whether it holds
	 * @param text what was checked
	 */
	void check(String invariant, boolean holds, String text) {
		this.lines.add((holds ? "OK " : "VIOLATION ") + invariant + " " + text);
	}

	/**
	 * Note something that is neither good nor bad.
	 * @param text the text
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

}
