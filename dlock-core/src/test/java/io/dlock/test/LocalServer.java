package io.dlock.test;

/**
 * A server that runs as a process of this machine, and what a test can do to it.
 */
public abstract class LocalServer implements AutoCloseable {

	/**
	 * The process, which servers that run already do not have.
	 * @return the server
	 */
	abstract RestartableServer server();

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
	public abstract void close();

}
