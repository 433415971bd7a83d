package io.dlock.store.redis;

import java.time.Duration;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * The connections of the store.
 */
abstract class RedisConnections implements AutoCloseable {

	/** The number of beats that are due before a subscription counts as dead. */
	static final int BEATS_IN_SILENCE = 3;

	private final Duration commandTimeout;

	private volatile long answered = System.nanoTime();

	RedisConnections(Duration commandTimeout) {
		this.commandTimeout = commandTimeout;
	}

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
			throw notConnected(ex);
		}
	}

	/**
	 * The server answered.
	 */
	void answered() {
		this.answered = System.nanoTime();
	}

	/**
	 * The failure of an operation.
	 * @param operation the name of the operation
	 * @param ex the exception of the client
	 * @return the failure
	 */
	final StoreException failure(String operation, RuntimeException ex) {
		return RedisErrors.isPoolExhausted(ex) ? noConnectionIsFree(ex) : RedisErrors.translate(operation, ex);
	}

	final StoreException notConnected(RuntimeException ex) {
		return RedisErrors.isPoolExhausted(ex) ? noConnectionIsFree(ex) : RedisErrors.notConnected(ex);
	}

	/**
	 * The pool is congested if the server has answered another call during the wait.
	 * Otherwise all connections wait for the server.
	 */
	private StoreException noConnectionIsFree(RuntimeException ex) {
		long millis = this.commandTimeout.toMillis();
		if (System.nanoTime() - this.answered < this.commandTimeout.toNanos()) {
			return new StoreCongestedException("No Redis connection became free within " + millis
					+ " ms: too many locks at once, or too few connections (spring.data.redis.jedis.pool.max-active)",
					ex);
		}
		return new StoreException(Effect.NONE, false,
				"Redis has answered no call for " + millis + " ms, and all lock connections wait", ex);
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
