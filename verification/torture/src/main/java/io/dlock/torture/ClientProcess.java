package io.dlock.torture;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.dlock.torture.fault.Bed;
import io.dlock.torture.fault.ClockOffset;
import io.dlock.torture.history.HistoryTail;

/**
 * A client of the campaign: one process after the other.
 */
final class ClientProcess implements Bed.TorturedClient, AutoCloseable {

	static final String MAIN = "io.dlock.torture.client.TortureClient";

	/** A client that starts again, beside all others, has taken 39 seconds. */
	private static final Duration START_PATIENCE = Duration.ofSeconds(150);

	private static final Duration ANSWER_PATIENCE = Duration.ofSeconds(60);

	private static final Duration DUMP_PATIENCE = Duration.ofSeconds(2);

	/**
	 * Most work is over sooner; a client that still holds a lock then keeps it for a
	 * while.
	 */
	private static final Duration WORTH_KILLING = Duration.ofMillis(8);

	private final ReentrantLock lock = new ReentrantLock();

	private final int number;

	private final Path directory;

	private final String mainClass;

	private final List<String> options;

	private final @Nullable ClockOffset clock;

	private int incarnation = -1;

	private @Nullable HistoryTail tail;

	private @Nullable ChildJvm process;

	/**
	 * Create a client, which does not run yet.
	 * @param directory the directory of the run
	 * @param mainClass what it runs
	 * @param options the options that all its processes have
	 * @param clock its clock, {@code null} for that of the machine
	 */
	ClientProcess(int number, Path directory, String mainClass, List<String> options, @Nullable ClockOffset clock) {
		this.number = number;
		this.directory = directory;
		this.mainClass = mainClass;
		this.options = List.copyOf(options);
		this.clock = clock;
	}

	String name() {
		return "client-" + this.number;
	}

	@Override
	public void respawn() throws InterruptedException {
		start();
		awaitReady();
		tell("GO");
	}

	/**
	 * Wait until the client has connected and warmed up, and does nothing.
	 */
	void awaitReady() throws InterruptedException {
		process().await("READY", START_PATIENCE);
	}

	void start() {
		this.lock.lock();
		try {
			if (this.process != null) {
				this.process.kill();
			}
			this.incarnation += 1;
			List<String> arguments = new ArrayList<>(this.options);
			arguments.add("--client=" + this.number);
			arguments.add("--incarnation=" + this.incarnation);
			arguments.add("--history=" + history(this.incarnation));
			this.process = ChildJvm.start(this.mainClass, arguments,
					(this.clock != null) ? this.clock.environment() : Map.of(),
					this.directory.resolve(name() + ".out"));
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * The history of the process that runs.
	 */
	Path history() {
		this.lock.lock();
		try {
			return history(this.incarnation);
		}
		finally {
			this.lock.unlock();
		}
	}

	private Path history(int of) {
		return this.directory.resolve(name() + "-" + of + ".history");
	}

	private ChildJvm process() {
		this.lock.lock();
		try {
			if (this.process == null) {
				throw new IllegalStateException(name() + " was never started");
			}
			return this.process;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public long pid() {
		return process().pid();
	}

	boolean isAlive() {
		return process().isAlive();
	}

	@Override
	public void pause() {
		process().signal("STOP");
	}

	@Override
	public void resume() {
		process().signal("CONT");
	}

	@Override
	public void kill() {
		process().kill();
	}

	@Override
	public String ask(String line, String answer) throws InterruptedException {
		ChildJvm asked = process();
		asked.tell(line);
		return asked.await(answer, ANSWER_PATIENCE);
	}

	@Override
	public boolean holdsSharedLock() {
		Path running = history();
		if (!Files.exists(running)) {
			return false;
		}
		if (this.tail == null || !this.tail.file().equals(running)) {
			this.tail = new HistoryTail(running);
		}
		this.tail.advance();
		return this.tail.holdsSharedLock(WORTH_KILLING);
	}

	/**
	 * Tell the client something. One that has ended does not hear it, which is found out
	 * when it is waited for.
	 * @param line what
	 */
	void tell(String line) {
		try {
			process().tell(line);
		}
		catch (UncheckedIOException ex) {
			// it has ended
		}
	}

	@Override
	public Optional<ClockOffset> clock() {
		return Optional.ofNullable(this.clock);
	}

	/**
	 * Print the stacks of all threads into the output of the client.
	 */
	void dumpThreads() {
		process().signal("QUIT");
	}

	/**
	 * Wait until the client has finished what it had begun, and does nothing.
	 * @param patience how long it may take
	 * @throws InterruptedException if the calling thread is interrupted
	 * @throws IllegalStateException if it does not come to rest
	 */
	void awaitIdle(Duration patience) throws InterruptedException {
		try {
			process().await("IDLE", patience);
		}
		catch (IllegalStateException ex) {
			dumpThreads();
			throw ex;
		}
	}

	/**
	 * Wait until the client has stopped, and kill it with a thread dump if it does not.
	 * @param patience how long it may take
	 * @return what it had left at the end
	 * @throws InterruptedException if the calling thread is interrupted
	 * @throws IllegalStateException if it does not stop, or fails
	 */
	String awaitStop(Duration patience) throws InterruptedException {
		ChildJvm stopping = process();
		try {
			String baseline = stopping.await("BASELINE", patience);
			if (!stopping.awaitEnd(patience)) {
				throw new IllegalStateException("It said good-bye and stayed");
			}
			if (stopping.exitCode() != 0) {
				throw new IllegalStateException("It ended with exit code " + stopping.exitCode());
			}
			return baseline;
		}
		catch (IllegalStateException ex) {
			dumpThreads();
			stopping.awaitEnd(DUMP_PATIENCE);
			throw ex;
		}
		finally {
			stopping.kill();
		}
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			if (this.process != null) {
				this.process.kill();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
