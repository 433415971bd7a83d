package io.dlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The time for which threads were ready to run and did not get a processor, by the books
 * of the kernel (Linux only; elsewhere nothing is known). It tells a busy machine from a
 * process that takes its time.
 */
public final class Starvation {

	/** The threads of a JVM that work for itself: no call waits for them. */
	private static final Set<String> IDLERS = Set.of("C1 CompilerThre", "C2 CompilerThre", "Common-Cleaner",
			"Notification Th", "Reference Handl", "Finalizer", "Signal Dispatch", "Service Thread", "Monitor Deflati",
			"DestroyJavaVM");

	private Map<Path, Task> tasks = new HashMap<>();

	/**
	 * Look again.
	 * @param pids the processes
	 * @return the time that the unluckiest of the threads known before has waited for a
	 * processor since then, in nanoseconds
	 */
	public long longestSince(Collection<Long> pids) {
		Map<Path, Task> seen = new HashMap<>();
		long longest = 0;
		for (long pid : pids) {
			for (Path path : tasks(pid)) {
				Task before = this.tasks.get(path);
				Task now = Task.read(path, before);
				seen.put(path, now);
				if (before != null && !now.isIdle()) {
					longest = Math.max(longest, now.waited() - before.waited());
				}
			}
		}
		this.tasks = seen;
		return longest;
	}

	/**
	 * Look again, and keep the books of the last look.
	 * @param pids the processes
	 * @return the time that the unluckiest of the threads has waited for a processor
	 * since the last look, or since its begin, in nanoseconds
	 */
	long longestUntilNow(Collection<Long> pids) {
		return pids.stream().flatMap((pid) -> tasks(pid).stream()).mapToLong((path) -> {
			Task before = this.tasks.get(path);
			Task now = Task.read(path, before);
			return now.isIdle() ? 0 : now.waited() - ((before != null) ? before.waited() : 0);
		}).max().orElse(0);
	}

	private static List<Path> tasks(long pid) {
		Path directory = Path.of("/proc", Long.toString(pid), "task");
		if (!Files.isDirectory(directory)) {
			return List.of();
		}
		try (Stream<Path> tasks = Files.list(directory)) {
			return tasks.toList();
		}
		catch (IOException | UncheckedIOException ex) {
			// it has just ended
			return List.of();
		}
	}

	/**
	 * A thread.
	 *
	 * @param name its name, as far as the kernel keeps it
	 * @param waited the time that it has waited for a processor in its life
	 */
	private record Task(String name, long waited) {

		static Task read(Path path, @Nullable Task before) {
			try {
				String name = (before != null) ? before.name : Files.readString(path.resolve("comm")).strip();
				String[] times = Files.readString(path.resolve("schedstat")).strip().split(" ", 3);
				return new Task(name, (times.length > 1) ? Long.parseLong(times[1]) : 0);
			}
			catch (IOException ex) {
				// it has just ended, or the kernel does not keep books
				return (before != null) ? before : new Task("", 0);
			}
		}

		boolean isIdle() {
			return IDLERS.contains(this.name);
		}

	}

}
