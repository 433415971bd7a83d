package io.dlock.torture.client;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The resources of a contender in the process when it has no locks.
 *
 * @param live how many threads the process has
 * @param threads the names of the live threads of libraries
 * @param objects how many objects of each of our classes there are
 */
record LeakBaseline(int live, List<String> threads, Map<String, Integer> objects) {

	private static final List<String> LIBRARIES = List.of("dlock", "lettuce", "redisson", "Hikari", "PG-", "KeepAlive",
			"pool-");

	private static final Pattern HISTOGRAM_LINE = Pattern
		.compile("\\s*\\d+:\\s+(\\d+)\\s+\\d+\\s+(io\\.dlock\\.(?!torture|test\\.)(?!\\S*Lambda)\\S+).*");

	/**
	 * Objects of calls without an answer, until the store has answered or the longest
	 * lease is over.
	 */
	private static final List<String> UNSETTLED = List.of("io.dlock.engine.lease.Revoker$Revocation",
			"io.dlock.store.jdbc.ConnectionSlots$Slot");

	/** Longer than the longest lease that is kept. */
	static final Duration AT_REST = Duration.ofSeconds(75);

	private static final Duration QUIET = Duration.ofMillis(500);

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	static LeakBaseline take() {
		Set<Thread> live = Thread.getAllStackTraces().keySet();
		return new LeakBaseline(live.size(), ofLibraries(live), histogram());
	}

	/**
	 * Take the baseline when no thread has been started or ended for a while: the
	 * resources of a call may be made on a thread of their own, after it.
	 */
	static LeakBaseline takeWhenQuiet() {
		long begin = System.nanoTime();
		long since = begin;
		List<String> last = threadsOfLibraries();
		while (System.nanoTime() - since < QUIET.toNanos() && System.nanoTime() - begin < PATIENCE.toNanos()) {
			LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
			List<String> next = threadsOfLibraries();
			since = next.equals(last) ? since : System.nanoTime();
			last = next;
		}
		return take();
	}

	/**
	 * Take the baseline when all calls without an answer are settled, or could be.
	 */
	static LeakBaseline takeAtRest() {
		long begin = System.nanoTime();
		LeakBaseline last = take();
		while (last.objects.keySet().stream().anyMatch(UNSETTLED::contains)
				&& System.nanoTime() - begin < AT_REST.toNanos()) {
			pause(Duration.ofSeconds(1));
			last = take();
		}
		return last;
	}

	/**
	 * Wait for a while until something is so.
	 * @param condition what
	 */
	static void await(BooleanSupplier condition) {
		long begin = System.nanoTime();
		while (!condition.getAsBoolean() && System.nanoTime() - begin < PATIENCE.toNanos()) {
			LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
		}
	}

	static void pause(Duration time) {
		long begin = System.nanoTime();
		long left = time.toNanos();
		while (left > 0) {
			LockSupport.parkNanos(left);
			left = time.toNanos() - (System.nanoTime() - begin);
		}
	}

	static List<String> threadsOfLibraries() {
		return ofLibraries(Thread.getAllStackTraces().keySet());
	}

	private static List<String> ofLibraries(Set<Thread> threads) {
		return threads.stream()
			.map(Thread::getName)
			.filter((name) -> LIBRARIES.stream().anyMatch(name::startsWith))
			.sorted()
			.toList();
	}

	/**
	 * The histogram counts live objects only, after a full collection.
	 */
	private static Map<String, Integer> histogram() {
		Map<String, Integer> objects = new TreeMap<>();
		try {
			Object text = ManagementFactory.getPlatformMBeanServer()
				.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
						new Object[] { new String[0] }, new String[] { String[].class.getName() });
			((String) text).lines().map(HISTOGRAM_LINE::matcher).filter(Matcher::matches).forEach((line) -> {
				objects.put(line.group(2), Integer.valueOf(line.group(1)));
			});
		}
		catch (JMException ex) {
			throw new IllegalStateException(ex);
		}
		return objects;
	}

}
