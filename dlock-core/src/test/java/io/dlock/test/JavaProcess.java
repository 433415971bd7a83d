package io.dlock.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Another JVM with the class path of this one, which is spoken to line by line, stopped,
 * continued and killed.
 */
public final class JavaProcess implements AutoCloseable {

	private final Process process;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private JavaProcess(Process process) {
		this.process = process;
		Thread reader = new Thread(this::read, "process-output");
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * Start a process.
	 * @param mainClass what to run
	 * @param arguments its arguments
	 * @return the process
	 * @throws IOException if it cannot be started
	 */
	public static JavaProcess start(Class<?> mainClass, String... arguments) throws IOException {
		List<String> command = new ArrayList<>(List.of(
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx96m", "-XX:+UseSerialGC",
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), mainClass.getName()));
		command.addAll(List.of(arguments));
		return new JavaProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
	}

	private void read() {
		try (BufferedReader reader = new BufferedReader(
				new InputStreamReader(this.process.getInputStream(), StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			this.lines.add("closed: " + ex);
		}
	}

	/**
	 * Wait for a line that begins so.
	 * @param beginning the beginning
	 * @return the rest of the line
	 * @throws InterruptedException if the thread is interrupted
	 */
	public String await(String beginning) throws InterruptedException {
		List<String> others = new ArrayList<>();
		while (true) {
			String line = this.lines.poll(180, TimeUnit.SECONDS);
			if (line == null) {
				throw new IllegalStateException("No '" + beginning + "' but " + others);
			}
			if (line.startsWith(beginning)) {
				return line.substring(beginning.length()).trim();
			}
			others.add(line);
		}
	}

	/**
	 * Send a line.
	 * @param line the line
	 * @throws IOException if the process is gone
	 */
	public void say(String line) throws IOException {
		this.process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	/**
	 * Send a signal.
	 * @param signal its name; after {@code STOP} the process really stands still
	 */
	public void signal(String signal) {
		ProcessSignals.send(signal, List.of(this.process.pid()));
		if (signal.equals("STOP")) {
			ProcessSignals.awaitStopped(this.process.pid());
		}
	}

	/**
	 * Kill the process without giving it a chance to say goodbye.
	 */
	public void kill() {
		this.process.destroyForcibly();
	}

	@Override
	public void close() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

}
