package io.dlock.torture.server;

import io.dlock.test.MariaDbServer;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

/**
 * A process of the store.
 *
 * @param name its name in the timeline
 * @param host where it listens
 * @param port where it listens
 * @param signals what can be done to it
 */
public record ServerNode(String name, String host, int port, Signals signals) {

	static ServerNode of(String name, RedisServer server) {
		return new ServerNode(name, server.host(), server.port(),
				new Signals(server::pause, server::resume, server::kill, server::restart));
	}

	static ServerNode of(String name, PostgresServer server) {
		return new ServerNode(name, server.host(), server.port(),
				new Signals(server::pause, server::resume, server::kill, server::restart));
	}

	static ServerNode of(String name, MariaDbServer server) {
		return new ServerNode(name, server.host(), server.port(),
				new Signals(server::pause, server::resume, server::kill, server::restart));
	}

	/**
	 * The same process, whose restart ends later.
	 * @param ready waits until it is of use
	 * @return the process
	 */
	ServerNode restartingUntil(Runnable ready) {
		return new ServerNode(this.name, this.host, this.port,
				new Signals(this.signals.pause(), this.signals.resume(), this.signals.kill(), () -> {
					this.signals.restart().run();
					ready.run();
				}));
	}

	/**
	 * Let it hang: nothing is answered, connections stay.
	 */
	public void pause() {
		this.signals.pause().run();
	}

	/**
	 * Let it continue.
	 */
	public void resume() {
		this.signals.resume().run();
	}

	/**
	 * Kill it with signal 9.
	 */
	public void kill() {
		this.signals.kill().run();
	}

	/**
	 * Start it again with its files, and wait until it answers.
	 */
	public void restart() {
		this.signals.restart().run();
	}

	/**
	 * The actions that are possible on a process.
	 *
	 * @param pause stops its scheduling
	 * @param resume continues it
	 * @param kill ends it
	 * @param restart starts it again
	 */
	public record Signals(Runnable pause, Runnable resume, Runnable kill, Runnable restart) {

	}

}
