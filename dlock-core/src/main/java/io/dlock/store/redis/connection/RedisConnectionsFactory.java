package io.dlock.store.redis.connection;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Opens connections like those of the application, but with the command timeout of the
 * lock.
 */
public final class RedisConnectionsFactory {

	private static final Log logger = LogFactory.getLog(RedisConnectionsFactory.class);

	private static final ClassLoader CLASS_LOADER = RedisConnectionsFactory.class.getClassLoader();

	private static final boolean LETTUCE = ClassUtils.isPresent("io.lettuce.core.RedisClient", CLASS_LOADER);

	private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.Jedis", CLASS_LOADER);

	private RedisConnectionsFactory() {
	}

	/**
	 * Create the connections. Nothing is opened before the first use.
	 * @param factory the factory of the application
	 * @param commandTimeout how long a command may take
	 * @return connections of the store's own, or those of the application if its client
	 * is not known
	 */
	public static RedisConnections create(RedisConnectionFactory factory, Duration commandTimeout) {
		RedisConnections connections = null;
		if (LETTUCE) {
			connections = LettuceConnections.like(factory, commandTimeout);
		}
		if (connections == null && JEDIS) {
			connections = JedisConnections.like(factory, commandTimeout);
		}
		if (connections == null) {
			logger.warn("Locks use the application's own Redis connections (" + factory.getClass().getName()
					+ "), and waiting processes poll: dlock knows the clients Lettuce and Jedis. "
					+ "Make sure that the command timeout is at most " + commandTimeout.toMillis() + " ms");
			connections = new ApplicationConnections(factory, commandTimeout);
		}
		return connections;
	}

}
