package io.dlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Signals to processes, and their effect.
 */
final class ProcessSignals {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final Duration LOOK = Duration.ofMillis(1);

	private ProcessSignals() {
	}

	/**
	 * Send a signal to processes.
	 * @param signal its name
	 * @param pids the processes
	 * @return whether all of them received it
	 */
	static boolean send(String signal, List<Long> pids) {
		if (pids.isEmpty()) {
			return true;
		}
		try {
			// The kill of the shell, as slim container images have no other
			String targets = pids.stream().map(String::valueOf).collect(Collectors.joining(" "));
			Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + targets + " 2>/dev/null").start();
			return kill.waitFor() == 0;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw interrupted(ex);
		}
	}

	/**
	 * Wait until all threads of a process stand still.
	 * @param pid the process, which has received {@code STOP}
	 */
	static void awaitStopped(long pid) {
		Path threads = Path.of("/proc", Long.toString(pid), "task");
		awaitQuickly(() -> !Files.exists(threads) || areStopped(threads), "Not stopped: " + pid);
	}

	static void awaitEnd(ProcessHandle child) {
		awaitQuickly(() -> !child.isAlive(), "Not ended: " + child);
	}

	private static void awaitQuickly(BooleanSupplier condition, String failure) {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - start > TIMEOUT.toNanos()) {
				throw new IllegalStateException(failure);
			}
			LockSupport.parkNanos(LOOK.toNanos());
		}
	}

	/**
	 * The first thread tells the others to stop, which may run on for a moment.
	 */
	private static boolean areStopped(Path threads) {
		try (Stream<Path> all = Files.list(threads)) {
			return all.allMatch((thread) -> isStopped(thread.resolve("stat")));
		}
		catch (IOException | UncheckedIOException ex) {
			return false;
		}
	}

	private static boolean isStopped(Path status) {
		try {
			String content = Files.readString(status);
			// a child that has ended and is not waited for yet is as still
			int state = content.lastIndexOf(')') + 2;
			return content.charAt(state) == 'T' || content.charAt(state) == 'Z';
		}
		catch (IOException ex) {
			return true;
		}
	}

	static IllegalStateException interrupted(InterruptedException ex) {
		Thread.currentThread().interrupt();
		return new IllegalStateException("Interrupted", ex);
	}

}
