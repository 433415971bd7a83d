package io.dlock.store.redis;

import java.time.Duration;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The connections of the application, whose client this library does not know.
 */
final class SharedConnections extends RedisConnections {

	private final RedisConnectionFactory factory;

	SharedConnections(RedisConnectionFactory factory, Duration commandTimeout) {
		super(commandTimeout);
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
