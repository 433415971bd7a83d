package io.dlock.torture.fault;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The file that says when what was done to whom, by the clock of the histories.
 */
public final class Timeline implements AutoCloseable {

	private final ReentrantLock lock = new ReentrantLock();

	private final BufferedWriter out;

	/**
	 * Create the file.
	 * @param file the file
	 */
	public Timeline(Path file) {
		try {
			this.out = Files.newBufferedWriter(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void start(PlannedFault fault, String text) {
		write("START", fault.type().id(), fault.targetName(), "%s #%d tier=%s duration=%d amount=%d%s".formatted(
				fault.type().name(), fault.number(), fault.type().tier(), fault.duration(), fault.amount(), text));
	}

	/**
	 * A process is about to be killed, which may be long after the fault began.
	 */
	void kill(PlannedFault fault) {
		write("KILL", fault.type().id(), fault.targetName(), "%s #%d".formatted(fault.type().name(), fault.number()));
	}

	/**
	 * Locking is possible again, though the fault is not over.
	 */
	void restored(PlannedFault fault) {
		write("RESTORED", fault.type().id(), fault.targetName(),
				"%s #%d".formatted(fault.type().name(), fault.number()));
	}

	void end(PlannedFault fault, String text) {
		write("END", fault.type().id(), fault.targetName(),
				"%s #%d%s".formatted(fault.type().name(), fault.number(), text));
	}

	/**
	 * Begin the next phase of the campaign.
	 * @param phase its name
	 * @param text more about it
	 */
	public void phase(String phase, String text) {
		write(phase, "-", "all", text);
	}

	private void write(String event, String id, String target, String text) {
		this.lock.lock();
		try {
			this.out.write(
					"%d %s %s %s %s%n".formatted(System.nanoTime(), event, id, target, text.replaceAll("\\s+", " ")));
			this.out.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void close() {
		try {
			this.out.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
