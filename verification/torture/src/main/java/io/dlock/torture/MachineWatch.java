package io.dlock.torture;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.dlock.test.Starvation;
import io.dlock.test.TcpProxy;

/**
 * Does what a call to a store makes a machine do, without a store and without locks, and
 * writes down when that took long: sends a byte through a proxy to an echo, and forces a
 * block to the disk. And it looks whether a process of the store waited for a processor:
 * the scheduler may starve one and nothing else. An event that was late meanwhile is the
 * fault of the machine, which is too busy.
 */
final class MachineWatch implements AutoCloseable {

	private static final Duration LONG = Duration.ofMillis(25);

	private static final Duration ECHO_EVERY = Duration.ofMillis(10);

	private static final Duration WRITE_EVERY = Duration.ofMillis(50);

	private static final int BLOCK = 4096;

	/**
	 * The number of rounds after which the processes of databases may have changed.
	 */
	private static final int SERVERS_CHANGE = 4;

	private final List<Closeable> opened = new ArrayList<>();

	private final ReentrantLock writing = new ReentrantLock();

	private final BufferedWriter out;

	private volatile boolean closed;

	private MachineWatch(Path file) throws IOException {
		this.out = open(Files.newBufferedWriter(file));
	}

	/**
	 * Begin to watch.
	 * @param file where to write: a line with begin, end and the slow thing for each time
	 * that the machine was slow
	 * @throws IOException if it cannot be done
	 */
	static MachineWatch start(Path file) throws IOException {
		MachineWatch watch = new MachineWatch(file);
		ServerSocket echo = watch.open(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
		TcpProxy proxy = TcpProxy.to("127.0.0.1", echo.getLocalPort());
		watch.open(proxy::close);
		Socket client = watch.open(new Socket(InetAddress.getLoopbackAddress(), proxy.port()));
		client.setTcpNoDelay(true);
		Path scratch = Files.createTempFile("dlock-torture", ".block");
		watch.open(() -> Files.deleteIfExists(scratch));
		FileChannel disk = watch.open(FileChannel.open(scratch, StandardOpenOption.WRITE));
		Socket answering = watch.open(echo.accept());
		thread("machine-echo", () -> answer(answering));
		thread("machine-watch", () -> watch.repeat("echo", ECHO_EVERY, () -> {
			client.getOutputStream().write(1);
			client.getInputStream().read();
		}));
		thread("machine-watch-disk", () -> watch.repeat("disk", WRITE_EVERY, () -> {
			disk.write(ByteBuffer.allocate(BLOCK), 0);
			disk.force(false);
		}));
		thread("machine-watch-servers", watch::watchServers);
		return watch;
	}

	private static void answer(Socket socket) throws IOException {
		socket.setTcpNoDelay(true);
		int read = socket.getInputStream().read();
		while (read >= 0) {
			socket.getOutputStream().write(read);
			read = socket.getInputStream().read();
		}
	}

	private static void thread(String name, Work work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			}
			catch (IOException ex) {
				// the watch was closed
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * From one end to the next: it is just as long if the thread is not woken up.
	 */
	private void repeat(String what, Duration pause, Work work) throws IOException {
		long last = System.nanoTime();
		while (!this.closed) {
			LockSupport.parkNanos(pause.toNanos());
			work.run();
			long now = System.nanoTime();
			if (now - last > pause.plus(LONG).toNanos()) {
				note(last, now, what);
			}
			last = now;
		}
	}

	/**
	 * The processes that this one has started, except JVMs: the clients watch themselves.
	 */
	private void watchServers() throws IOException {
		Starvation starvation = new Starvation();
		List<Long> servers = List.of();
		for (int round = 0; !this.closed; round++) {
			if (round % SERVERS_CHANGE == 0) {
				servers = servers();
			}
			long waited = starvation.longestSince(servers);
			long now = System.nanoTime();
			if (waited > LONG.toNanos()) {
				// no longer than the wait: a call of that time was no slower
				note(now - waited, now, "servers");
			}
			LockSupport.parkNanos(WRITE_EVERY.toNanos());
		}
	}

	private static List<Long> servers() {
		return ProcessHandle.current()
			.descendants()
			.filter((process) -> process.info().command().filter((command) -> !command.endsWith("java")).isPresent())
			.map(ProcessHandle::pid)
			.toList();
	}

	private void note(long from, long to, String what) throws IOException {
		this.writing.lock();
		try {
			this.out.write(from + " " + to + " " + what + "\n");
			this.out.flush();
		}
		finally {
			this.writing.unlock();
		}
	}

	private <T extends Closeable> T open(T resource) {
		this.opened.add(resource);
		return resource;
	}

	@Override
	public void close() throws IOException {
		this.closed = true;
		this.writing.lock();
		try {
			for (Closeable resource : this.opened) {
				resource.close();
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Something that ends with an exception when the watch is closed.
	 */
	@FunctionalInterface
	private interface Work {

		void run() throws IOException;

	}

}
