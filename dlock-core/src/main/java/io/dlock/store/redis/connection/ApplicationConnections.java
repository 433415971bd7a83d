package io.dlock.store.redis.connection;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The connections of the application, whose client this library does not know.
 */
final class ApplicationConnections extends RedisConnections {

	ApplicationConnections(RedisConnectionFactory factory, Duration commandTimeout) {
		super(factory, commandTimeout, factory.getClass().getSimpleName());
	}

	@Override
	public boolean isCluster() {
		try (RedisConnection connection = factory().getConnection()) {
			return connection instanceof RedisClusterConnection;
		}
	}

	/**
	 * A subscription of Jedis leaves an answer behind on its connection, which the next
	 * command takes for its own; others never end.
	 */
	@Override
	public @Nullable RedisConnectionFactory subscribers() {
		return null;
	}

	@Override
	public void close() {
	}

}
