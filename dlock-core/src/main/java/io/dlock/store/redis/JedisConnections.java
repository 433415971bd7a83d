package io.dlock.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfigBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/**
 * A pool of Jedis connections of the store's own.
 */
final class JedisConnections extends DedicatedConnections {

	private final JedisConnectionFactory factory;

	private final String description;

	private JedisConnections(JedisConnectionFactory factory, String description) {
		this.factory = factory;
		this.description = description;
	}

	static @Nullable DedicatedConnections like(RedisConnectionFactory factory, Duration commandTimeout) {
		if (!(factory instanceof JedisConnectionFactory jedis)) {
			return null;
		}
		DedicatedConfiguration client = new DedicatedConfiguration(jedis.getClientConfiguration(), commandTimeout,
				new AtomicBoolean());
		JedisConnections connections = create(jedis, client);
		connections.factory.afterPropertiesSet();
		client.forSentinels().set(true);
		connections.factory.start();
		return connections;
	}

	private static JedisConnections create(JedisConnectionFactory jedis, JedisClientConfiguration client) {
		RedisClusterConfiguration cluster = jedis.getClusterConfiguration();
		if (cluster != null) {
			return new JedisConnections(new JedisConnectionFactory(cluster, client),
					"Jedis, cluster " + cluster.getClusterNodes());
		}
		RedisSentinelConfiguration sentinel = jedis.getSentinelConfiguration();
		if (sentinel != null) {
			return new JedisConnections(new JedisConnectionFactory(sentinel, client),
					"Jedis, sentinel " + sentinel.getSentinels());
		}
		RedisStandaloneConfiguration server = Objects.requireNonNull(jedis.getStandaloneConfiguration());
		return new JedisConnections(new JedisConnectionFactory(server, client),
				"Jedis, " + server.getHostName() + ":" + server.getPort());
	}

	@Override
	ScriptConnection open() {
		try {
			RedisConnection connection = this.factory.getConnection();
			return (connection.getNativeConnection() instanceof UnifiedJedis jedis)
					? new PipeliningConnection(connection, jedis) : new SpringScriptConnection(connection);
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
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

	/**
	 * Not by Spring Data's pipelining, which does not know Jedis' cluster pipelines.
	 */
	private static final class PipeliningConnection extends SpringScriptConnection {

		private final UnifiedJedis jedis;

		PipeliningConnection(RedisConnection connection, UnifiedJedis jedis) {
			super(connection);
			this.jedis = jedis;
		}

		@Override
		public List<Object> runAll(RedisLockScript.Batch batch) {
			List<Response<Object>> responses = new ArrayList<>(batch.runs().size());
			try (AbstractPipeline pipeline = this.jedis.pipelined()) {
				for (byte[][] run : batch.runs()) {
					responses.add(batch.cached() ? pipeline.evalsha(batch.scriptText(), 1, run)
							: pipeline.eval(batch.scriptText(), 1, run));
				}
				pipeline.sync();
			}
			return responses.stream().map(PipeliningConnection::answer).toList();
		}

		private static Object answer(Response<Object> response) {
			try {
				return response.get();
			}
			catch (RuntimeException ex) {
				return ex;
			}
		}

	}

	/**
	 * The application's client configuration, but with the timeouts of the lock and a
	 * bounded wait for a pooled connection. Spring Data asks it once for the connections
	 * to Redis, when the factory is initialized, and later for those to sentinels.
	 */
	private record DedicatedConfiguration(JedisClientConfiguration application, Duration commandTimeout,
			AtomicBoolean forSentinels) implements JedisClientConfiguration {

		@Override
		public boolean isUseSsl() {
			return this.application.isUseSsl();
		}

		@Override
		public Optional<SSLSocketFactory> getSslSocketFactory() {
			return this.application.getSslSocketFactory();
		}

		@Override
		public Optional<SSLParameters> getSslParameters() {
			return this.application.getSslParameters();
		}

		@Override
		public Optional<HostnameVerifier> getHostnameVerifier() {
			return this.application.getHostnameVerifier();
		}

		@Override
		public Optional<JedisClientConfigBuilderCustomizer> getClientConfigCustomizer() {
			if (this.forSentinels.get()) {
				// a sentinel has nothing to say between two failovers
				return this.application.getClientConfigCustomizer();
			}
			// only a subscription reads without the read timeout
			JedisClientConfigBuilderCustomizer silence = (builder) -> builder.blockingSocketTimeoutMillis(
					Math.toIntExact(RedisMailboxes.longestSilence(this.commandTimeout).toMillis()));
			return Optional.of(this.application.getClientConfigCustomizer()
				.<JedisClientConfigBuilderCustomizer>map((customizer) -> (builder) -> {
					customizer.customize(builder);
					silence.customize(builder);
				})
				.orElse(silence));
		}

		@Override
		public Optional<JedisClientBuilderCustomizer> getClientCustomizer() {
			return this.application.getClientCustomizer();
		}

		@Override
		public boolean isUsePooling() {
			return true;
		}

		@Override
		public Optional<GenericObjectPoolConfig<?>> getPoolConfig() {
			// its defaults test idle connections and drop those that the server has
			// closed
			ConnectionPoolConfig pool = new ConnectionPoolConfig();
			this.application.getPoolConfig().ifPresent((configured) -> pool.setMaxTotal(configured.getMaxTotal()));
			if (pool.getMaxTotal() >= 0) {
				// the mailbox keeps one
				pool.setMaxTotal(pool.getMaxTotal() + 1);
			}
			pool.setMaxIdle(pool.getMaxTotal());
			pool.setMaxWait(this.commandTimeout);
			pool.setJmxEnabled(false);
			return Optional.of(pool);
		}

		@Override
		public Optional<String> getClientName() {
			return Optional.of(this.application.getClientName().map((name) -> name + "-dlock").orElse("dlock"));
		}

		@Override
		public Duration getConnectTimeout() {
			return this.commandTimeout;
		}

		@Override
		public Duration getReadTimeout() {
			return this.commandTimeout;
		}

	}

}
