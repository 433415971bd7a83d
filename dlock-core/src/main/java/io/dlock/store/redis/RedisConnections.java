package io.dlock.store.redis;

import java.time.Duration;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.store.StoreException;

/**
 * The connections of the store.
 */
abstract class RedisConnections implements AutoCloseable {

	/** The number of beats that are due before a subscription counts as dead. */
	static final int BEATS_IN_SILENCE = 3;

	/**
	 * The time for which a subscription may hear nothing before it counts as dead.
	 * @param commandTimeout the command timeout
	 * @return the time, in which several beats are due
	 */
	static Duration longestSilence(Duration commandTimeout) {
		return commandTimeout.multipliedBy(2 * BEATS_IN_SILENCE);
	}

	/**
	 * Open a connection.
	 * @return the connection, to be closed by the caller
	 * @throws StoreException if there is none; nothing was sent then
	 */
	ScriptConnection open() {
		try {
			return new SpringScriptConnection(factory().getConnection());
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/**
	 * The server answered.
	 */
	void answered() {
	}

	/**
	 * A command failed.
	 * @param failure how
	 */
	void failed(StoreException failure) {
	}

	abstract RedisConnectionFactory factory();

	/**
	 * Whether there are several nodes, each with some of the locks.
	 * @return whether this is a cluster
	 */
	abstract boolean isCluster();

	abstract String description();

	@Override
	public abstract void close();

}
