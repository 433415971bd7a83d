package io.dlock.test;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * A server that can be started again with its files, on its port.
 */
final class RestartableServer {

	private final ReentrantLock lock = new ReentrantLock();

	private final Path directory;

	private final String stopSignal;

	private final List<String> command;

	private final Map<String, String> environment;

	private final ServerProcess.Probe probe;

	private @Nullable ServerProcess process;

	/**
	 * Start it for the first time.
	 * @param directory the working directory
	 * @param stopSignal the signal that ends the process at once and without leftovers
	 * @param environment variables to add to those of this JVM
	 * @param probe succeeds when the server is ready
	 */
	RestartableServer(Path directory, String stopSignal, List<String> command, Map<String, String> environment,
			ServerProcess.Probe probe) {
		this.directory = directory;
		this.stopSignal = stopSignal;
		this.command = List.copyOf(command);
		this.environment = Map.copyOf(environment);
		this.probe = probe;
		restart();
	}

	/**
	 * Start the server again. One that still runs is killed before.
	 */
	void restart() {
		this.lock.lock();
		try {
			if (this.process != null) {
				this.process.kill();
			}
			this.process = ServerProcess.start(this.directory, this.stopSignal, this.command, this.environment);
			this.process.awaitReady(this.probe);
		}
		finally {
			this.lock.unlock();
		}
	}

	ServerProcess process() {
		this.lock.lock();
		try {
			if (this.process == null) {
				throw new IllegalStateException("Never started");
			}
			return this.process;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Stop the server and delete its files.
	 */
	void close() {
		process().stop();
		ServerProcess.delete(this.directory);
	}

}
