package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
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
		return create(factory, commandTimeout, null);
	}

	/**
	 * Create the connections to several servers that are asked at once. Nothing is opened
	 * before the first use.
	 * @param factories the factory of each server
	 * @param commandTimeout how long a command may take
	 * @return the connections to each server; those of Lettuce share their threads
	 */
	public static List<RedisConnections> create(List<? extends RedisConnectionFactory> factories,
			Duration commandTimeout) {
		SharedLettuceResources shared = LETTUCE ? new SharedLettuceResources() : null;
		List<RedisConnections> connections = new ArrayList<>(factories.size());
		try {
			factories.forEach((factory) -> connections.add(create(factory, commandTimeout, shared)));
		}
		catch (RuntimeException ex) {
			connections.forEach(RedisConnections::close);
			if (shared != null) {
				shared.shutdown();
			}
			throw ex;
		}
		return connections;
	}

	private static RedisConnections create(RedisConnectionFactory factory, Duration commandTimeout,
			@Nullable SharedLettuceResources shared) {
		RedisConnections connections = null;
		if (LETTUCE) {
			connections = LettuceConnections.like(factory, commandTimeout, shared);
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
