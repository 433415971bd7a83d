package io.dlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A proxy between a client and a server that counts round trips and breaks the network on
 * demand. It knows nothing about the protocol, so the same faults serve Redis and every
 * database: a lost reply, a slow or silent network, a reset connection.
 */
public final class TcpProxy implements AutoCloseable {

	private volatile InetSocketAddress target;

	private final ServerSocket listener;

	private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();

	private final AtomicLong roundTrips = new AtomicLong();

	private final ProxyFaults faults = new ProxyFaults();

	private TcpProxy(String host, int port) {
		this.target = new InetSocketAddress(host, port);
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
		this.faults.dropReplies(n);
	}

	/**
	 * Hold back what the server sends. Bytes that arrive meanwhile wait for their turn.
	 * @param delay the delay of each chunk, {@link Duration#ZERO} for none
	 */
	public void delayReplies(Duration delay) {
		this.faults.delay(true, delay.toNanos());
	}

	/**
	 * Hold back what clients send. Bytes that arrive meanwhile wait for their turn.
	 * @param delay the delay of each chunk, {@link Duration#ZERO} for none
	 */
	public void delayRequests(Duration delay) {
		this.faults.delay(false, delay.toNanos());
	}

	/**
	 * Stop to forward anything, even the end of a connection, and forward all of it when
	 * switched off again, which is late for whoever has given up in between.
	 * @param on whether to be silent
	 */
	public void blackHole(boolean on) {
		blackHoleRequests(on);
		blackHoleReplies(on);
	}

	/**
	 * As {@link #blackHole(boolean)}, only for what clients send.
	 * @param on whether to be silent
	 */
	public void blackHoleRequests(boolean on) {
		this.faults.blackHole(false, on);
	}

	/**
	 * As {@link #blackHole(boolean)}, only for what the server sends.
	 * @param on whether to be silent
	 */
	public void blackHoleReplies(boolean on) {
		this.faults.blackHole(true, on);
	}

	/**
	 * Stop forwarding anything on the connections on which a client has sent one of the
	 * words so far. Others, and those to come, stay as they are. {@link #heal()} lets the
	 * bytes pass that were held back.
	 * @param words the words
	 * @return the number of connections that are silent now
	 */
	public long silence(String... words) {
		return this.connections.stream().filter((connection) -> connection.silenceIfSent(words)).count();
	}

	/**
	 * Forward what a client sends with the word, and nothing more on its connection, so
	 * that there is no answer. A connection on which the word was sent before falls
	 * silent with its next request. {@link #heal()} lets the bytes pass that were held
	 * back.
	 * @param word the word
	 */
	public void silenceAfter(String word) {
		this.faults.silenceAfter(word);
	}

	/**
	 * Let so many bytes from clients pass, whatever the connection, and cut the
	 * connection at the next: in the middle of a request, if it is longer.
	 * @param bytes the number of bytes
	 */
	public void cutRequestsAfter(int bytes) {
		this.faults.cutAfter(false, bytes);
	}

	/**
	 * Let so many bytes from the server pass, whatever the connection, and cut the
	 * connection at the next: in the middle of a reply, if it is longer.
	 * @param bytes the number of bytes
	 */
	public void cutRepliesAfter(int bytes) {
		this.faults.cutAfter(true, bytes);
	}

	/**
	 * Swallow all bytes in both directions while on. They are lost for good.
	 * @param on whether to swallow
	 */
	public void discard(boolean on) {
		this.faults.discard(on);
	}

	/**
	 * Reset every open connection.
	 */
	public void cutAll() {
		this.connections.forEach(ProxyConnection::reset);
	}

	/**
	 * Reset every new connection at once while on. Existing connections stay.
	 * @param on whether to refuse
	 */
	public void refuse(boolean on) {
		this.faults.refuse(on);
	}

	/**
	 * Connect to another server from now on. Existing connections stay.
	 * @param host the host of the server
	 * @param port the port of the server
	 */
	public void redirect(String host, int port) {
		this.target = new InetSocketAddress(host, port);
	}

	/**
	 * Switch all faults off.
	 */
	public void heal() {
		this.faults.heal(() -> this.connections.forEach(ProxyConnection::speak));
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
				ProxyConnection connection = new ProxyConnection(this, this.faults, this.listener.accept());
				this.connections.add(connection);
				if (this.faults.refuse() || this.listener.isClosed()) {
					connection.reset();
				}
				else {
					startThread("requests", () -> connection.connectAndForwardRequests(this.target));
				}
			}
		}
		catch (IOException ex) {
			close();
		}
	}

	void startThread(String name, Runnable task) {
		Thread thread = new Thread(task, "tcp-proxy-" + port() + "-" + name);
		thread.setDaemon(true);
		thread.start();
	}

	void countRoundTrip() {
		this.roundTrips.incrementAndGet();
	}

	void ended(ProxyConnection connection) {
		this.connections.remove(connection);
	}

}
