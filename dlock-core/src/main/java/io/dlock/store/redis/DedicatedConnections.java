package io.dlock.store.redis;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

import io.dlock.store.StoreException;

/**
 * Where the store gets its connections from: a factory like the application's, but with
 * the command timeout of the lock.
 */
abstract class DedicatedConnections implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(DedicatedConnections.class);

	private static final ClassLoader CLASS_LOADER = DedicatedConnections.class.getClassLoader();

	private static final boolean LETTUCE = ClassUtils.isPresent("io.lettuce.core.RedisClient", CLASS_LOADER);

	private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.Jedis", CLASS_LOADER);

	static DedicatedConnections like(RedisConnectionFactory factory, Duration commandTimeout) {
		DedicatedConnections connections = null;
		if (LETTUCE) {
			connections = LettuceConnections.like(factory, commandTimeout);
		}
		if (connections == null && JEDIS) {
			connections = JedisConnections.like(factory, commandTimeout);
		}
		if (connections == null) {
			logger.warn("Locks use the application's own Redis connections (" + factory.getClass().getName()
					+ "): make sure that their command timeout is at most " + commandTimeout.toMillis() + " ms");
			connections = new Shared(factory);
		}
		return connections;
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

	/**
	 * The application's own connections, of a kind this library does not know.
	 */
	private static final class Shared extends DedicatedConnections {

		private final RedisConnectionFactory factory;

		Shared(RedisConnectionFactory factory) {
			this.factory = factory;
		}

		@Override
		RedisConnectionFactory factory() {
			return this.factory;
		}

		@Override
		boolean isCluster() {
			try (RedisConnection connection = this.factory.getConnection()) {
				return connection instanceof RedisClusterConnection;
			}
		}

		@Override
		String description() {
			return this.factory.getClass().getSimpleName();
		}

		@Override
		public void close() {
		}

	}

}
