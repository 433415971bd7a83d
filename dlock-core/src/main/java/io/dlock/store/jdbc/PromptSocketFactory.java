package io.dlock.store.jdbc;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;

import javax.net.SocketFactory;

/**
 * Sockets on which notifications of PostgreSQL arrive at once. After each notification
 * the driver waits a millisecond for another one before it returns the first, which is
 * more than half of a hand-off between processes; on these sockets that wait ends at
 * once.
 * <p>
 * Public because the driver creates it by its name.
 *
 * @since 0.1
 */
public final class PromptSocketFactory extends SocketFactory {

	/** The timeout of the driver's wait for another notification. */
	private static final int POLL_MILLIS = 1;

	@Override
	public Socket createSocket() {
		return new PromptSocket();
	}

	@Override
	public Socket createSocket(String host, int port) throws IOException {
		throw unconnectedOnly();
	}

	@Override
	public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
		throw unconnectedOnly();
	}

	@Override
	public Socket createSocket(InetAddress host, int port) throws IOException {
		throw unconnectedOnly();
	}

	@Override
	public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) throws IOException {
		throw unconnectedOnly();
	}

	private static IOException unconnectedOnly() {
		return new IOException("The driver of PostgreSQL connects its sockets itself");
	}

	private static final class PromptSocket extends Socket {

		private volatile boolean polling;

		@Override
		public synchronized void setSoTimeout(int timeout) throws SocketException {
			super.setSoTimeout(timeout);
			this.polling = timeout == POLL_MILLIS;
		}

		@Override
		public InputStream getInputStream() throws IOException {
			return new FilterInputStream(super.getInputStream()) {

				@Override
				public int read() throws IOException {
					failIfPollingInVain();
					return super.read();
				}

				@Override
				public int read(byte[] bytes, int offset, int length) throws IOException {
					failIfPollingInVain();
					return super.read(bytes, offset, length);
				}

				private void failIfPollingInVain() throws IOException {
					if (PromptSocket.this.polling && available() == 0) {
						throw new SocketTimeoutException("Nothing has arrived");
					}
				}

			};
		}

	}

}
