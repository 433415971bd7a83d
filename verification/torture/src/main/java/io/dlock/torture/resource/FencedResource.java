package io.dlock.torture.resource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

import io.dlock.torture.Arguments;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryWriter;

/**
 * The resource that the locks protect, a process of its own. It answers one request after
 * the other and writes them down in that order. It never talks to the lock store and no
 * fault touches it, so what it says is the truth.
 * <p>
 * {@code FencedResource --port=0 --log=FILE} prints {@code LISTENING <port>}, and ends
 * with its standard input.
 */
public final class FencedResource implements AutoCloseable {

	private final Selector selector;

	private final ServerSocketChannel server;

	private final HistoryWriter log;

	private final Counters counters = new Counters();

	/**
	 * Listen on the loopback interface.
	 * @param port the port, 0 for any
	 * @param log the file of the log
	 * @throws IOException if that fails
	 */
	public FencedResource(int port, Path log) throws IOException {
		this.log = new HistoryWriter(log, HistoryHeader.ofResource());
		this.selector = Selector.open();
		this.server = ServerSocketChannel.open();
		this.server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
		this.server.configureBlocking(false);
		this.server.register(this.selector, SelectionKey.OP_ACCEPT);
	}

	public static void main(String[] args) throws IOException {
		Arguments arguments = Arguments.parse(args);
		FencedResource resource = new FencedResource(arguments.number("port", 0), Path.of(arguments.text("log")));
		Thread thread = new Thread(resource::run, "resource");
		thread.setDaemon(true);
		thread.start();
		System.out.println("LISTENING " + resource.port());
		while (System.in.read() != -1) {
			Thread.onSpinWait();
		}
		resource.close();
	}

	/**
	 * The port.
	 * @return the port it listens on
	 */
	public int port() {
		return this.server.socket().getLocalPort();
	}

	/**
	 * Answer until closed.
	 */
	public void run() {
		try {
			while (this.selector.isOpen()) {
				this.selector.select(this::serve);
			}
		}
		catch (ClosedSelectorException ex) {
			// closed
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void serve(SelectionKey key) {
		try {
			if (key.isAcceptable()) {
				SocketChannel client = this.server.accept();
				client.configureBlocking(false);
				client.setOption(StandardSocketOptions.TCP_NODELAY, true);
				client.register(this.selector, SelectionKey.OP_READ, ByteBuffer.allocate(Request.SIZE));
			}
			else if (key.attachment() instanceof ByteBuffer buffer) {
				read(key, buffer);
			}
		}
		catch (IOException ex) {
			// a client that was killed
			close(key);
		}
	}

	/**
	 * A client has one request on its way at a time, and the answer is smaller than any
	 * socket buffer.
	 */
	private void read(SelectionKey key, ByteBuffer buffer) throws IOException {
		SocketChannel client = (SocketChannel) key.channel();
		if (client.read(buffer) < 0) {
			close(key);
			return;
		}
		if (!buffer.hasRemaining()) {
			buffer.flip();
			Reply reply = answer(Request.read(buffer));
			buffer.clear();
			ByteBuffer out = ByteBuffer.allocate(Reply.SIZE);
			reply.write(out);
			client.write(out.flip());
		}
	}

	private Reply answer(Request request) {
		long before = this.counters.highest(request.origin().key());
		Reply reply = this.counters.apply(request);
		Counters.entries(System.nanoTime(), request, reply, before).forEach(this.log::append);
		return reply;
	}

	private static void close(SelectionKey key) {
		try {
			key.cancel();
			key.channel().close();
		}
		catch (IOException ex) {
			// gone anyway
		}
	}

	@Override
	public void close() throws IOException {
		this.selector.close();
		this.server.close();
		this.log.close();
	}

}
