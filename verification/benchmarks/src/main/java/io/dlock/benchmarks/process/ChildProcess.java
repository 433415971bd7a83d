package io.dlock.benchmarks.process;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A JVM of its own, on the same class path.
 */
public final class ChildProcess implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 900;

	private static final String END = "failed the process ended";

	private final Process process;

	private final BufferedWriter in;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private ChildProcess(Process process) {
		this.process = process;
		this.in = process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "child-" + process.pid());
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * Start a child.
	 * @param log the file that its error stream is appended to
	 * @param flags the flags of the JVM
	 * @param task what it does
	 * @param arguments the arguments of the task
	 * @return the child
	 */
	public static ChildProcess start(Path log, List<String> flags, Child.Task task, List<String> arguments) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(flags);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), Child.class.getName(), task.name()));
		command.addAll(arguments);
		try {
			return new ChildProcess(
					new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile())).start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void read() {
		try (BufferedReader reader = this.process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			// as if it had ended
		}
		this.lines.add(END);
	}

	/**
	 * Send a line.
	 * @param line the line
	 */
	public void tell(String line) {
		try {
			this.in.write(line + "\n");
			this.in.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Wait for a line that begins so.
	 * @param word the first word
	 * @return the rest of the line
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	public String await(String word) throws InterruptedException {
		String line = this.lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
		if (line == null || !line.startsWith(word)) {
			throw new IllegalStateException("Expected '" + word + "' of a child but got: " + line);
		}
		return line.substring(word.length()).trim();
	}

	/**
	 * Wait for the report.
	 * @return the report
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	public ChildReport result() throws InterruptedException {
		return ChildReport.parse(await("result"));
	}

	/**
	 * Wait until the JVM has ended.
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	public void awaitEnd() throws InterruptedException {
		this.process.waitFor();
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

}
