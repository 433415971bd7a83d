package io.dlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;

/**
 * An operating system process started by a test. The process is started by this class and
 * not by one of the "embedded server" libraries so that its id is known: that allows to
 * pause and to kill it, and to leave neither processes nor files behind when the JVM
 * ends.
 */
final class ServerProcess {

	static final Duration START_TIMEOUT = Duration.ofSeconds(60);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

	private static final int CLUSTER_BUS = 10_000;

	private static final int FIRST_PORT = 12_500;

	private static final int LAST_PORT = FIRST_PORT + CLUSTER_BUS;

	private static final Set<ServerProcess> PROCESSES = ConcurrentHashMap.newKeySet();

	private static final Set<Path> DIRECTORIES = ConcurrentHashMap.newKeySet();

	private static final Set<DatagramSocket> RESERVATIONS = ConcurrentHashMap.newKeySet();

	private static final ReentrantReadWriteLock EXIT_LOCK = new ReentrantReadWriteLock();

	private static boolean exiting;

	static {
		Runtime.getRuntime().addShutdownHook(new Thread(ServerProcess::exit, "test-servers-exit"));
	}

	private final Process process;

	private final Path log;

	private final String stopSignal;

	private ServerProcess(Process process, Path log, String stopSignal) {
		this.process = process;
		this.log = log;
		this.stopSignal = stopSignal;
	}

	/**
	 * Start a process in the given directory, which also receives its output.
	 * @param directory the working directory
	 * @param stopSignal the signal that ends the process at once and without leftovers
	 * @param environment variables to add to those of this JVM
	 */
	static ServerProcess start(Path directory, String stopSignal, List<String> command,
			Map<String, String> environment) {
		Path log = directory.resolve("output.log");
		ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
		builder.environment().put("LC_ALL", "C");
		builder.environment().putAll(environment);
		return unlessExiting(() -> {
			ServerProcess started = new ServerProcess(builder.start(), log, stopSignal);
			PROCESSES.add(started);
			return started;
		});
	}

	/**
	 * Run a command to its end and require that it succeeds.
	 * @param directory the working directory
	 */
	static void run(Path directory, List<String> command) {
		ServerProcess started = start(directory, "KILL", command, Map.of());
		try {
			if (!started.waitFor(START_TIMEOUT) || started.process.exitValue() != 0) {
				throw new IllegalStateException("Failed: " + command + started.output());
			}
		}
		finally {
			started.stop();
		}
	}

	/**
	 * Copy a directory with the owners and permissions of its files.
	 * @param source the directory
	 * @param target the copy, in an existing directory
	 */
	static void copy(Path source, Path target) {
		run(target.getParent(), List.of("cp", "-RLp", source.toString(), target.toString()));
	}

	/**
	 * Create a temporary directory that is deleted when the JVM ends.
	 * @param name the name of its user
	 */
	static Path newDirectory(String name) {
		return unlessExiting(() -> {
			Path directory = Files.createTempDirectory("dlock-" + name + "-");
			DIRECTORIES.add(directory);
			return directory;
		});
	}

	/**
	 * Do something that needs to be cleaned up when the JVM ends, so that the cleanup
	 * neither misses it nor runs at the same time.
	 * @param <T> the type of the result
	 * @return the result of the action
	 */
	static <T> T unlessExiting(IoAction<T> action) {
		EXIT_LOCK.readLock().lock();
		try {
			if (exiting) {
				throw new IllegalStateException("The JVM is shutting down");
			}
			return action.run();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			EXIT_LOCK.readLock().unlock();
		}
	}

	/**
	 * Delete a directory of {@link #newDirectory(String)} early, unless that has been
	 * done before.
	 */
	static void delete(Path directory) {
		if (!DIRECTORIES.contains(directory)) {
			return;
		}
		try (Stream<Path> files = Files.walk(directory)) {
			for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
				Files.deleteIfExists(file);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		DIRECTORIES.remove(directory);
	}

	/**
	 * Reserve a port below the range that the operating system hands out to clients. In
	 * that range the port of a killed server could be taken by any outgoing connection,
	 * even by a client that reconnects to the server and so connects to itself. That goes
	 * for the second port of a node of Redis Cluster as well, which is
	 * {@value #CLUSTER_BUS} above the first and not the first of another server.
	 * @return the port, which no other server of the tests gets until this JVM ends
	 */
	static int reservePort() {
		for (int i = 0; i < 100; i++) {
			int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT);
			if (reserve(port)) {
				return port;
			}
		}
		throw new IllegalStateException("No free port");
	}

	/**
	 * Reserve a port if it is free. Modules are tested side by side, and the port of a
	 * server that starts, or that a test has killed, looks free to other JVMs: they see
	 * that its UDP port is taken, which no server uses.
	 * @return whether it was free
	 */
	static boolean reserve(int port) {
		InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
		try (ServerSocket socket = new ServerSocket()) {
			RESERVATIONS.add(new DatagramSocket(address));
			socket.bind(address);
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Whether this JVM runs as root, read from a directory that it has created.
	 * @return {@code true} if so
	 */
	static boolean isRoot(Path ownDirectory) {
		try {
			return Files.getAttribute(ownDirectory, "unix:uid").equals(0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Wait until the probe succeeds, and fail with the output of the process if it does
	 * not in time or if the process dies.
	 * @param probe speaks the protocol of the server, fails as long as it is not ready
	 */
	void awaitReady(Probe probe) {
		long start = System.nanoTime();
		Exception failure;
		do {
			try {
				probe.run();
				return;
			}
			catch (Exception ex) {
				failure = ex;
			}
		}
		while (!waitFor(POLL_INTERVAL) && System.nanoTime() - start < START_TIMEOUT.toNanos());
		String output = output();
		stop();
		throw new IllegalStateException("The server did not get ready" + output, failure);
	}

	/**
	 * Stop the scheduling of the process and its children, and return when they really
	 * stand still.
	 */
	void pause() {
		signal("STOP");
		ProcessSignals.awaitStopped(this.process.pid());
		// no child is started any more
		List<Long> children = children();
		ProcessSignals.send("STOP", children);
		children.forEach(ProcessSignals::awaitStopped);
	}

	void resume() {
		ProcessSignals.send("CONT", children());
		signal("CONT");
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	void stop() {
		try {
			if (!this.stopSignal.equals("KILL")) {
				signal(this.stopSignal);
				waitFor(STOP_TIMEOUT);
			}
		}
		catch (IllegalStateException | UncheckedIOException ex) {
			// Already dead, or to be killed
		}
		kill();
	}

	void kill() {
		stopStartingChildren();
		List<ProcessHandle> children = this.process.descendants().toList();
		this.process.destroyForcibly();
		children.forEach(ProcessHandle::destroyForcibly);
		waitFor(STOP_TIMEOUT);
		// a server does not start again while a child of the one before has its memory
		children.forEach(ProcessSignals::awaitEnd);
		PROCESSES.remove(this);
	}

	/**
	 * A server that starts its children again after a crash could start one while it is
	 * killed, which would outlive it and keep its memory.
	 */
	private void stopStartingChildren() {
		try {
			signal("STOP");
			ProcessSignals.awaitStopped(this.process.pid());
		}
		catch (IllegalStateException ex) {
			// has ended by itself
		}
	}

	private void signal(String signal) {
		if (!this.process.isAlive()) {
			throw new IllegalStateException("Not running: " + this.process);
		}
		if (!ProcessSignals.send(signal, List.of(this.process.pid()))) {
			throw new IllegalStateException("Cannot send " + signal + " to " + this.process);
		}
	}

	private List<Long> children() {
		return this.process.descendants().map(ProcessHandle::pid).toList();
	}

	private boolean waitFor(Duration timeout) {
		try {
			return this.process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			throw ProcessSignals.interrupted(ex);
		}
	}

	private String output() {
		try {
			return System.lineSeparator() + new String(Files.readAllBytes(this.log), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			return " (no output: " + ex + ")";
		}
	}

	private static void exit() {
		EXIT_LOCK.writeLock().lock();
		try {
			exiting = true;
		}
		finally {
			EXIT_LOCK.writeLock().unlock();
		}
		PROCESSES.forEach(ServerProcess::stop);
		for (Path directory : DIRECTORIES) {
			try {
				delete(directory);
			}
			catch (UncheckedIOException ex) {
				// As much as possible, the other directories are still to delete
			}
		}
	}

	/**
	 * An action that reads or writes files.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface IoAction<T> {

		T run() throws IOException;

	}

	/**
	 * Asks a server whether it is ready.
	 */
	@FunctionalInterface
	interface Probe {

		void run() throws Exception;

	}

}
