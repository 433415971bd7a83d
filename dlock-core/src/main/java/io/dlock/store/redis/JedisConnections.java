package io.dlock.store.redis;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.UnifiedJedis;

/**
 * A pool of Jedis connections that belongs to the store.
 */
final class JedisConnections extends RedisConnections {

	private final JedisConnectionFactory factory;

	private final String description;

	private JedisConnections(JedisConnectionFactory factory, Duration commandTimeout, String description) {
		super(commandTimeout);
		this.factory = factory;
		this.description = description;
	}

	static @Nullable RedisConnections like(RedisConnectionFactory factory, Duration commandTimeout) {
		if (!(factory instanceof JedisConnectionFactory jedis)) {
			return null;
		}
		JedisLockClientConfiguration client = new JedisLockClientConfiguration(jedis.getClientConfiguration(),
				commandTimeout, new AtomicBoolean());
		JedisConnections connections = create(jedis, client);
		connections.factory.afterPropertiesSet();
		client.forSentinels().set(true);
		connections.factory.start();
		return connections;
	}

	private static JedisConnections create(JedisConnectionFactory jedis, JedisLockClientConfiguration client) {
		RedisClusterConfiguration cluster = jedis.getClusterConfiguration();
		if (cluster != null) {
			return new JedisConnections(new JedisConnectionFactory(cluster, client), client.commandTimeout(),
					"Jedis, cluster " + cluster.getClusterNodes());
		}
		RedisSentinelConfiguration sentinel = jedis.getSentinelConfiguration();
		if (sentinel != null) {
			return new JedisConnections(new JedisConnectionFactory(sentinel, client), client.commandTimeout(),
					"Jedis, sentinel " + sentinel.getSentinels());
		}
		RedisStandaloneConfiguration server = Objects.requireNonNull(jedis.getStandaloneConfiguration());
		return new JedisConnections(new JedisConnectionFactory(server, client), client.commandTimeout(),
				"Jedis, " + server.getHostName() + ":" + server.getPort());
	}

	@Override
	ScriptConnection open() {
		try {
			RedisConnection connection = this.factory.getConnection();
			if (!(connection.getNativeConnection() instanceof UnifiedJedis jedis)) {
				return new SpringScriptConnection(connection);
			}
			return (connection instanceof RedisClusterConnection cluster)
					? new JedisClusterScriptConnection(cluster, jedis) : new JedisScriptConnection(connection, jedis);
		}
		catch (RuntimeException ex) {
			throw notConnected(ex);
		}
	}

	@Override
	RedisConnectionFactory factory() {
		return this.factory;
	}

	@Override
	boolean isCluster() {
		return this.factory.isRedisClusterAware();
	}

	@Override
	String description() {
		return this.description;
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
