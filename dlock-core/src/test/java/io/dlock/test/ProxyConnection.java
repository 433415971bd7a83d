package io.dlock.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A connection through a {@link TcpProxy}, with one thread for each direction.
 */
final class ProxyConnection {

	private static final int CONNECT_TIMEOUT = 5000;

	private static final int BUFFER_SIZE = 16 * 1024;

	private static final int BEGIN_SIZE = 4 * 1024;

	private final TcpProxy proxy;

	private final ProxyFaults faults;

	private final Socket client;

	private final Socket server = new Socket();

	private final AtomicBoolean clientSpokeLast = new AtomicBoolean();

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * The first words that the client has sent: the greeting, and the purpose of the
	 * connection.
	 */
	private final StringBuffer begin = new StringBuffer();

	/** The latest words, as a connection of a pool may get a new purpose. */
	private final StringBuffer latest = new StringBuffer();

	private volatile boolean silent;

	private final AtomicInteger openDirections = new AtomicInteger(2);

	ProxyConnection(TcpProxy proxy, ProxyFaults faults, Socket client) {
		this.proxy = proxy;
		this.faults = faults;
		this.client = client;
	}

	void connectAndForwardRequests(InetSocketAddress target) {
		try {
			this.client.setTcpNoDelay(true);
			this.server.setTcpNoDelay(true);
			this.server.connect(target, CONNECT_TIMEOUT);
		}
		catch (IOException ex) {
			reset();
			return;
		}
		this.proxy.startThread("replies", () -> forward(this.server, this.client, true));
		forward(this.client, this.server, false);
	}

	private void forward(Socket from, Socket to, boolean replies) {
		try {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			byte[] buffer = new byte[BUFFER_SIZE];
			for (int length = in.read(buffer); length != -1; length = in.read(buffer)) {
				boolean discarded = this.faults.discard();
				if (replies && this.faults.takeReplyToDrop()) {
					reset();
					return;
				}
				if (!replies && !this.clientSpokeLast.getAndSet(true)) {
					this.proxy.countRoundTrip();
				}
				if (!replies) {
					remember(new String(buffer, 0, length, StandardCharsets.ISO_8859_1));
				}
				this.faults.awaitTurn(replies, () -> this.silent, this.closed::get);
				if (!replies) {
					// Before the server can answer
					this.faults.silenceIfSent(sent(), () -> this.silent = true);
				}
				if (!discarded && !this.faults.discard()) {
					pass(out, buffer, length, replies);
				}
			}
			this.faults.awaitTurn(replies, () -> this.silent, this.closed::get);
			to.shutdownOutput();
			if (this.openDirections.decrementAndGet() == 0) {
				close(false);
			}
		}
		catch (IOException ex) {
			reset();
		}
	}

	private void pass(OutputStream out, byte[] buffer, int length, boolean replies) throws IOException {
		int passing = this.faults.passBeforeCut(replies, length);
		if (replies) {
			// Before the client can answer
			this.clientSpokeLast.set(false);
		}
		out.write(buffer, 0, passing);
		if (passing < length) {
			// An end and not a reset, which could overtake the bytes
			to(replies).shutdownOutput();
			throw new IOException("Cut");
		}
	}

	private Socket to(boolean replies) {
		return replies ? this.client : this.server;
	}

	private void remember(String words) {
		if (this.begin.length() < BEGIN_SIZE) {
			this.begin.append(words);
		}
		this.latest.append(words);
		this.latest.delete(0, Math.max(0, this.latest.length() - BEGIN_SIZE));
	}

	/**
	 * Forward nothing more if the client has sent one of the words.
	 * @return whether it has
	 */
	boolean silenceIfSent(String... words) {
		this.silent |= Stream.of(words).anyMatch(sent()::contains);
		return this.silent;
	}

	private String sent() {
		return this.begin + " " + this.latest;
	}

	/**
	 * Forward again.
	 */
	void speak() {
		this.silent = false;
	}

	void reset() {
		close(true);
	}

	private void close(boolean reset) {
		if (this.closed.compareAndSet(false, true)) {
			this.proxy.ended(this);
			close(this.client, reset);
			close(this.server, reset);
			this.faults.connectionEnded();
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
