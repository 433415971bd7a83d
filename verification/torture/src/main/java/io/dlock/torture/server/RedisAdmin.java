package io.dlock.torture.server;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The administrator of a Redis process: one connection that is kept, so that it is there
 * when no new ones are, and opened again when it breaks.
 */
public final class RedisAdmin implements AutoCloseable {

	private static final int CONNECT_TIMEOUT = 2000;

	private final ReentrantLock lock = new ReentrantLock();

	private final String host;

	private final int port;

	private final Duration timeout;

	private @Nullable Socket socket;

	private @Nullable InputStream in;

	private @Nullable OutputStream out;

	/**
	 * Create an administrator; nothing is opened yet.
	 * @param host the host
	 * @param port the port
	 * @param timeout how long an answer may take
	 */
	public RedisAdmin(String host, int port, Duration timeout) {
		this.host = host;
		this.port = port;
		this.timeout = timeout;
	}

	/**
	 * Run a command.
	 * @param command the words of the command
	 * @return a string, a number, a list of answers or {@code null}
	 * @throws IOException if there is no answer
	 * @throws RedisErrorException if the answer is an error
	 */
	public @Nullable Object call(String... command) throws IOException {
		this.lock.lock();
		try {
			return (this.socket != null) ? callAgain(command) : callOnce(command);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * The connection may have been closed since it was used last.
	 */
	private @Nullable Object callAgain(String... command) throws IOException {
		try {
			return callOnce(command);
		}
		catch (EOFException | SocketException ex) {
			return callOnce(command);
		}
	}

	private @Nullable Object callOnce(String... command) throws IOException {
		try {
			connect();
			send(command);
			return read();
		}
		catch (RedisErrorException ex) {
			throw ex;
		}
		catch (IOException ex) {
			close();
			throw ex;
		}
	}

	/**
	 * Run a command whose answer is a number.
	 * @param command the words of the command
	 * @return the number
	 * @throws IOException if there is no answer, or an error
	 */
	public long number(String... command) throws IOException {
		return Long.parseLong(text(command));
	}

	/**
	 * Run a command whose answer is text.
	 * @param command the words of the command
	 * @return the text
	 * @throws IOException if there is no answer, or an error
	 */
	public String text(String... command) throws IOException {
		return String.valueOf(call(command));
	}

	/**
	 * Run a command whose answer is a list.
	 * @param command the words of the command
	 * @return the elements
	 * @throws IOException if there is no answer, or an error
	 */
	public List<String> texts(String... command) throws IOException {
		Object answer = call(command);
		if (answer instanceof List<?> list) {
			return list.stream().map(String::valueOf).toList();
		}
		throw new IOException("Not a list: " + answer);
	}

	private void connect() throws IOException {
		if (this.socket != null) {
			return;
		}
		Socket opened = new Socket();
		this.socket = opened;
		opened.connect(new InetSocketAddress(this.host, this.port), CONNECT_TIMEOUT);
		opened.setTcpNoDelay(true);
		opened.setSoTimeout((int) this.timeout.toMillis());
		this.in = new BufferedInputStream(opened.getInputStream());
		this.out = new BufferedOutputStream(opened.getOutputStream());
	}

	private void send(String... command) throws IOException {
		OutputStream stream = this.out;
		if (stream == null) {
			throw new IOException("Not connected");
		}
		stream.write(("*" + command.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
		for (String word : command) {
			byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
			stream.write(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
			stream.write(bytes);
			stream.write("\r\n".getBytes(StandardCharsets.US_ASCII));
		}
		stream.flush();
	}

	private @Nullable Object read() throws IOException {
		String line = line();
		String rest = line.substring(1);
		return switch (line.charAt(0)) {
			case '+' -> rest;
			case ':' -> Long.valueOf(rest);
			case '-' -> throw new RedisErrorException(rest);
			case '$' -> bulk(Integer.parseInt(rest));
			case '*' -> list(Integer.parseInt(rest));
			default -> throw new IOException("Not an answer: " + line);
		};
	}

	private List<@Nullable Object> list(int length) throws IOException {
		List<@Nullable Object> list = new ArrayList<>();
		for (int i = 0; i < length; i++) {
			list.add(read());
		}
		return list;
	}

	private @Nullable String bulk(int length) throws IOException {
		if (length < 0) {
			return null;
		}
		byte[] bytes = stream().readNBytes(length);
		line();
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private String line() throws IOException {
		StringBuilder line = new StringBuilder();
		for (int next = stream().read(); next != '\n'; next = stream().read()) {
			if (next == -1) {
				throw new EOFException("Closed by the server");
			}
			if (next != '\r') {
				line.append((char) next);
			}
		}
		return line.toString();
	}

	private InputStream stream() throws IOException {
		if (this.in == null) {
			throw new IOException("Not connected");
		}
		return this.in;
	}

	@Override
	public void close() {
		Socket closing = this.socket;
		this.socket = null;
		try {
			if (closing != null) {
				closing.close();
			}
		}
		catch (IOException ex) {
			// gone all the same
		}
	}

	/**
	 * The server answered with an error.
	 */
	public static final class RedisErrorException extends IOException {

		private static final long serialVersionUID = 1L;

		RedisErrorException(String message) {
			super(message);
		}

	}

}
