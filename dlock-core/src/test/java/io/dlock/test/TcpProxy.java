package io.dlock.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A proxy between a client and a server that counts round trips and breaks the network on
 * demand. It knows nothing about the protocol, so the same faults serve Redis and every
 * database: a lost reply, a slow or silent network, a reset connection.
 */
public final class TcpProxy implements AutoCloseable {

	private static final int CONNECT_TIMEOUT = 5000;

	private static final int BUFFER_SIZE = 16 * 1024;

	private final String host;

	private final int port;

	private final ServerSocket listener;

	private final Set<Connection> connections = ConcurrentHashMap.newKeySet();

	private final AtomicLong roundTrips = new AtomicLong();

	private final AtomicInteger repliesToDrop = new AtomicInteger();

	private final ReentrantLock lock = new ReentrantLock();

	/**
	 * Signalled when a fault is switched or a connection ends.
	 */
	private final Condition changed = this.lock.newCondition();

	private volatile long requestDelay;

	private volatile long replyDelay;

	private volatile boolean blackHole;

	private volatile boolean discard;

	private volatile boolean refuse;

	private TcpProxy(String host, int port) {
		this.host = host;
		this.port = port;
		try {
			this.listener = new ServerSocket(0, 0, InetAddress.getByName("127.0.0.1"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		startThread("accept", this::accept);
	}

	/**
	 * Start a proxy to the given server, which need not run yet.
	 * @param host the host of the server
	 * @param port the port of the server
	 * @return the proxy
	 */
	public static TcpProxy to(String host, int port) {
		return new TcpProxy(host, port);
	}

	/**
	 * Return the port on 127.0.0.1 that clients connect to.
	 * @return the port
	 */
	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Return how often, over all connections, a client sent bytes after the server had
	 * spoken to it, or as the first bytes of a connection. A goodbye that a driver sends
	 * on close counts as well.
	 * @return the number of round trips since the last {@link #resetCounters()}
	 */
	public long roundTrips() {
		return this.roundTrips.get();
	}

	public void resetCounters() {
		this.roundTrips.set(0);
	}

	/**
	 * Return the number of connections that are not closed in both directions yet. The
	 * proxy learns of a new or a closed connection a moment after the client.
	 * @return the number of connections
	 */
	public int openConnections() {
		return this.connections.size();
	}

	/**
	 * Swallow the next bytes from the server, whatever the connection, and reset that
	 * connection: the server has done what was asked, the client cannot know.
	 */
	public void dropNextReply() {
		dropReplies(1);
	}

	/**
	 * As {@link #dropNextReply()}, for the given number of replies and so of connections.
	 * @param n the number of replies, {@code 0} to stop
	 */
	public void dropReplies(int n) {
		this.repliesToDrop.set(n);
	}

	/**
	 * Hold back what the server sends. Bytes that arrive meanwhile wait for their turn.
	 * @param delay the delay of each chunk, {@link Duration#ZERO} for none
	 */
	public void delayReplies(Duration delay) {
		change(() -> this.replyDelay = delay.toNanos());
	}

	/**
	 * Hold back what clients send. Bytes that arrive meanwhile wait for their turn.
	 * @param delay the delay of each chunk, {@link Duration#ZERO} for none
	 */
	public void delayRequests(Duration delay) {
		change(() -> this.requestDelay = delay.toNanos());
	}

	/**
	 * Stop to forward anything, even the end of a connection, and forward all of it when
	 * switched off again, which is late for whoever has given up in between.
	 * @param on whether to be silent
	 */
	public void blackHole(boolean on) {
		change(() -> this.blackHole = on);
	}

	/**
	 * Swallow all bytes in both directions while on. They are lost for good.
	 * @param on whether to swallow
	 */
	public void discard(boolean on) {
		this.discard = on;
	}

	/**
	 * Reset every open connection.
	 */
	public void cutAll() {
		this.connections.forEach(Connection::reset);
	}

	/**
	 * Reset every new connection at once while on. Existing connections stay.
	 * @param on whether to refuse
	 */
	public void refuse(boolean on) {
		this.refuse = on;
	}

	@Override
	public void close() {
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			cutAll();
		}
	}

	private void accept() {
		try {
			while (true) {
				Connection connection = new Connection(this.listener.accept());
				this.connections.add(connection);
				if (this.refuse || this.listener.isClosed()) {
					connection.reset();
				}
				else {
					startThread("requests", connection::connectAndForwardRequests);
				}
			}
		}
		catch (IOException ex) {
			close();
		}
	}

	private void startThread(String name, Runnable task) {
		Thread thread = new Thread(task, "tcp-proxy-" + port() + "-" + name);
		thread.setDaemon(true);
		thread.start();
	}

	private void change(Runnable change) {
		this.lock.lock();
		try {
			change.run();
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean takeReplyToDrop() {
		return this.repliesToDrop.getAndUpdate((n) -> Math.max(0, n - 1)) > 0;
	}

	private final class Connection {

		private final Socket client;

		private final Socket server = new Socket();

		private final AtomicBoolean clientSpokeLast = new AtomicBoolean();

		private final AtomicBoolean closed = new AtomicBoolean();

		private final AtomicInteger openDirections = new AtomicInteger(2);

		private Connection(Socket client) {
			this.client = client;
		}

		private void connectAndForwardRequests() {
			try {
				this.client.setTcpNoDelay(true);
				this.server.setTcpNoDelay(true);
				this.server.connect(new InetSocketAddress(TcpProxy.this.host, TcpProxy.this.port), CONNECT_TIMEOUT);
			}
			catch (IOException ex) {
				reset();
				return;
			}
			startThread("replies", () -> forward(this.server, this.client, true));
			forward(this.client, this.server, false);
		}

		private void forward(Socket from, Socket to, boolean replies) {
			try {
				InputStream in = from.getInputStream();
				OutputStream out = to.getOutputStream();
				byte[] buffer = new byte[BUFFER_SIZE];
				for (int length = in.read(buffer); length != -1; length = in.read(buffer)) {
					if (replies && takeReplyToDrop()) {
						reset();
						return;
					}
					if (!replies && !this.clientSpokeLast.getAndSet(true)) {
						TcpProxy.this.roundTrips.incrementAndGet();
					}
					awaitTurn(replies);
					if (!TcpProxy.this.discard) {
						if (replies) {
							// Before the client can answer
							this.clientSpokeLast.set(false);
						}
						out.write(buffer, 0, length);
					}
				}
				awaitTurn(replies);
				to.shutdownOutput();
				if (this.openDirections.decrementAndGet() == 0) {
					close(false);
				}
			}
			catch (IOException ex) {
				reset();
			}
		}

		/**
		 * Wait until neither a delay nor the black hole holds the bytes back.
		 */
		private void awaitTurn(boolean replies) throws IOException {
			long arrived = System.nanoTime();
			TcpProxy.this.lock.lock();
			try {
				while (!this.closed.get()) {
					long delay = (replies) ? TcpProxy.this.replyDelay : TcpProxy.this.requestDelay;
					long remaining = delay - (System.nanoTime() - arrived);
					if (TcpProxy.this.blackHole) {
						TcpProxy.this.changed.awaitUninterruptibly();
					}
					else if (remaining <= 0) {
						return;
					}
					else {
						TcpProxy.this.changed.awaitNanos(remaining);
					}
				}
				throw new IOException("Connection closed");
			}
			catch (InterruptedException ex) {
				throw new IOException(ex);
			}
			finally {
				TcpProxy.this.lock.unlock();
			}
		}

		private void reset() {
			close(true);
		}

		private void close(boolean reset) {
			if (this.closed.compareAndSet(false, true)) {
				TcpProxy.this.connections.remove(this);
				close(this.client, reset);
				close(this.server, reset);
				change(() -> {
				});
			}
		}

		private void close(Socket socket, boolean reset) {
			try (socket) {
				if (reset) {
					socket.setSoLinger(true, 0);
				}
			}
			catch (IOException ex) {
				// Closed by the other side
			}
		}

	}

}
