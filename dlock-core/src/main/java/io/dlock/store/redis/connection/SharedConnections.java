package io.dlock.store.redis.connection;

import java.time.Duration;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The connections of the application, whose client this library does not know.
 */
final class SharedConnections extends RedisConnections {

	SharedConnections(RedisConnectionFactory factory, Duration commandTimeout) {
		super(factory, commandTimeout, factory.getClass().getSimpleName());
	}

	@Override
	public boolean isCluster() {
		try (RedisConnection connection = factory().getConnection()) {
			return connection instanceof RedisClusterConnection;
		}
	}

	@Override
	public void close() {
	}

}
