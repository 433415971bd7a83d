package io.dlock.torture;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A JVM of its own on the same class path, which can be stopped, continued and killed. It
 * does not outlive this JVM.
 */
public final class ChildJvm {

	private static final List<String> FLAGS = List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-XX:-UsePerfData");

	private static final Set<ChildJvm> RUNNING = ConcurrentHashMap.newKeySet();

	private static final String END = "the process ended";

	static {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(ChildJvm::kill), "children-exit"));
	}

	private final Process process;

	private final BufferedWriter in;

	private final Path log;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private ChildJvm(Process process, Path log) {
		this.process = process;
		this.in = process.outputWriter(StandardCharsets.UTF_8);
		this.log = log;
		RUNNING.add(this);
		Thread reader = new Thread(this::read, "child-" + process.pid());
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * Start a child.
	 * @param mainClass what it runs
	 * @param arguments the arguments
	 * @param environment variables to add to those of this JVM
	 * @param log the file that receives all its output
	 * @return the child
	 */
	public static ChildJvm start(String mainClass, List<String> arguments, Map<String, String> environment, Path log) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(FLAGS);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
		command.addAll(arguments);
		ProcessBuilder builder = new ProcessBuilder(command)
			.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
		builder.environment().putAll(environment);
		try {
			return new ChildJvm(builder.start(), log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void read() {
		try (BufferedReader reader = this.process.inputReader(StandardCharsets.UTF_8);
				BufferedWriter out = Files.newBufferedWriter(this.log, StandardOpenOption.CREATE,
						StandardOpenOption.APPEND)) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				out.write(line + "\n");
				out.flush();
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			// as if it had ended
		}
		this.lines.add(END);
	}

	/**
	 * Wait for a line that begins so; others are skipped.
	 * @param word the first word
	 * @param patience how long to wait
	 * @return the rest of the line
	 * @throws InterruptedException if the calling thread is interrupted
	 * @throws IllegalStateException if it does not come
	 */
	public String await(String word, Duration patience) throws InterruptedException {
		long end = System.nanoTime() + patience.toNanos();
		while (true) {
			String line = this.lines.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
			if (line == null || line.equals(END)) {
				throw new IllegalStateException("No " + word + " of process " + pid() + ", "
						+ ((line != null) ? "which ended" : "which runs") + ", see " + this.log);
			}
			if (line.startsWith(word)) {
				return line.substring(word.length()).trim();
			}
		}
	}

	void tell(String line) {
		try {
			this.in.write(line + "\n");
			this.in.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	boolean awaitEnd(Duration patience) throws InterruptedException {
		boolean ended = this.process.waitFor(patience.toNanos(), TimeUnit.NANOSECONDS);
		if (ended) {
			RUNNING.remove(this);
		}
		return ended;
	}

	int exitCode() {
		return this.process.exitValue();
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Send a signal.
	 * @param name its name, such as {@code STOP}
	 */
	void signal(String name) {
		if (!isAlive()) {
			return;
		}
		try {
			new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid()).start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * End it at once, and wait until it has ended.
	 */
	public void kill() {
		this.process.destroyForcibly();
		this.process.onExit().join();
		RUNNING.remove(this);
	}

}
