package io.dlock.torture.resource;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;

import io.dlock.torture.history.HistoryRecord.Origin;

/**
 * A thread's connection to the resource. Interrupts do not disturb it.
 */
public final class ResourceClient implements AutoCloseable {

	private final Socket socket;

	private final DataInputStream in;

	/**
	 * Connect.
	 * @param port the port of the resource
	 * @throws IOException if that fails
	 */
	public ResourceClient(int port) throws IOException {
		this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
		this.socket.setTcpNoDelay(true);
		this.in = new DataInputStream(this.socket.getInputStream());
	}

	/**
	 * Read the fenced counter, which from then on rejects lower tokens.
	 * @param origin who reads
	 * @param token the fencing token
	 * @return the answer
	 */
	public Reply readFenced(Origin origin, long token) {
		return call(new Request(Request.Operation.FENCED_READ, origin, token, 0));
	}

	/**
	 * Read the fenced counter, which from then on rejects lower tokens of writers.
	 * @param origin who reads
	 * @param token the fencing token of a lock that others may share
	 * @return the answer
	 */
	public Reply readShared(Origin origin, long token) {
		return call(new Request(Request.Operation.SHARED_READ, origin, token, 0));
	}

	/**
	 * Write the fenced counter.
	 * @param origin who writes
	 * @param token the fencing token
	 * @param value the new value
	 * @return the answer
	 */
	public Reply writeFenced(Origin origin, long token, long value) {
		return call(new Request(Request.Operation.FENCED_WRITE, origin, token, value));
	}

	/**
	 * Read the counter without a fence.
	 * @param origin who reads
	 * @return the answer
	 */
	public Reply readUnfenced(Origin origin) {
		return call(new Request(Request.Operation.UNFENCED_READ, origin, 0, 0));
	}

	/**
	 * Write the counter without a fence.
	 * @param origin who writes
	 * @param value the new value
	 * @return the answer
	 */
	public Reply writeUnfenced(Origin origin, long value) {
		return call(new Request(Request.Operation.UNFENCED_WRITE, origin, 0, value));
	}

	/**
	 * Write the fenced counters of two accounts, both or none.
	 * @param from the account that gives money
	 * @param to the account that receives it
	 * @param amount the money
	 * @return the answer for the first account
	 */
	public Reply transfer(Account from, Account to, long amount) {
		return call(new Request(Request.Operation.TRANSFER, from.origin(), from.token(), from.balance() - amount,
				new Request.Entry(to.origin().key(), to.token(), to.balance() + amount, amount)));
	}

	/**
	 * An account as its holder has read it.
	 *
	 * @param origin the call that holds its lock
	 * @param token the fencing token
	 * @param balance the balance that was read
	 */
	public record Account(Origin origin, long token, long balance) {

	}

	private Reply call(Request request) {
		ByteBuffer out = ByteBuffer.allocate(Request.SIZE);
		request.write(out);
		try {
			this.socket.getOutputStream().write(out.array());
			return Reply.read(ByteBuffer.wrap(this.in.readNBytes(Reply.SIZE)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
