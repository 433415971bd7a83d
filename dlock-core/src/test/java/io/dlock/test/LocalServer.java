package io.dlock.test;

import org.jspecify.annotations.Nullable;

/**
 * A server that runs as a process of this machine, and what a test can do to it.
 */
public abstract class LocalServer implements AutoCloseable {

	private @Nullable RestartableServer server;

	private boolean shared;

	/**
	 * It was started. A server that runs already, outside of the tests, never is.
	 * @param server the server
	 * @param shared whether it stays up for other tests when it is closed
	 */
	final void started(RestartableServer server, boolean shared) {
		this.server = server;
		this.shared = shared;
	}

	private RestartableServer server() {
		if (this.server == null) {
			throw new IllegalStateException("Not possible with an external server");
		}
		return this.server;
	}

	/**
	 * Let the server hang: connections stay open, nothing is answered.
	 */
	public final void pause() {
		server().process().pause();
	}

	/**
	 * Let a {@link #pause() paused} server continue.
	 */
	public final void resume() {
		server().process().resume();
	}

	/**
	 * Kill the server without giving it a chance to say goodbye.
	 */
	public final void kill() {
		server().process().kill();
	}

	/**
	 * Start the server again, on the same port and with the same files. A server that
	 * still runs is killed before.
	 */
	public final void restart() {
		server().restart();
	}

	/**
	 * Whether the process of the server runs, hanging or not.
	 * @return {@code true} if so
	 */
	public final boolean isAlive() {
		return server().process().isAlive();
	}

	@Override
	public final void close() {
		if (!this.shared && this.server != null) {
			this.server.close();
		}
	}

}
