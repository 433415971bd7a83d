package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * A pool of Jedis connections that belongs to the store.
 */
final class JedisConnections extends RedisConnections {

	private final JedisConnectionFactory factory;

	private JedisConnections(JedisConnectionFactory factory, Duration commandTimeout, String description) {
		super(factory, commandTimeout, description);
		this.factory = factory;
	}

	static @Nullable RedisConnections like(RedisConnectionFactory factory, Duration commandTimeout) {
		if (!(factory instanceof JedisConnectionFactory jedis)) {
			return null;
		}
		JedisLockClientConfiguration client = new JedisLockClientConfiguration(jedis.getClientConfiguration(),
				commandTimeout, new AtomicBoolean());
		RedisConfiguration configuration = configuration(jedis);
		JedisConnectionFactory dedicated = create(configuration, client);
		dedicated.setEarlyStartup(false);
		dedicated.afterPropertiesSet();
		client.forSentinels().set(true);
		dedicated.start();
		return new JedisConnections(dedicated, commandTimeout, "Jedis, " + describe(configuration));
	}

	private static RedisConfiguration configuration(JedisConnectionFactory jedis) {
		RedisConfiguration cluster = jedis.getClusterConfiguration();
		RedisConfiguration sentinel = jedis.getSentinelConfiguration();
		if (cluster != null) {
			return cluster;
		}
		return (sentinel != null) ? sentinel : Objects.requireNonNull(jedis.getStandaloneConfiguration());
	}

	private static JedisConnectionFactory create(RedisConfiguration configuration, JedisClientConfiguration client) {
		if (configuration instanceof RedisClusterConfiguration cluster) {
			return new JedisConnectionFactory(cluster, client);
		}
		return (configuration instanceof RedisSentinelConfiguration sentinel)
				? new JedisConnectionFactory(sentinel, client)
				: new JedisConnectionFactory((RedisStandaloneConfiguration) configuration, client);
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

	/**
	 * The pool hands out the connection that was returned last, and a replica answers the
	 * checks of the pool: a connection to a demoted master would stay. The clients of a
	 * cluster and of sentinels learn of a new master by themselves.
	 */
	@Override
	void failed(RuntimeException failure) {
		String code = RedisErrors.serverCode(failure);
		if (code != null && RedisErrors.isOfAReplica(code)) {
			try (RedisConnection connection = this.factory.getConnection()) {
				if (connection.getNativeConnection() instanceof RedisClient client) {
					client.getPool().clear();
				}
			}
		}
	}

	@Override
	public boolean dropsRefusedSubscriptions() {
		return true;
	}

	@Override
	public RedisConnectionFactory subscribers() {
		return JedisSubscriber.of(this.factory);
	}

	@Override
	public boolean pipelines() {
		return true;
	}

	@Override
	public boolean isCluster() {
		return this.factory.isRedisClusterAware();
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
