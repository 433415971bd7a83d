package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.springframework.data.redis.connection.jedis.JedisClientBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfigBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.builders.ClusterClientBuilder;

/**
 * The application's client configuration, but with the timeouts of the lock and a bounded
 * wait for a pooled connection. Spring Data asks it once for the connections to Redis,
 * when the factory is initialized, and later for those to sentinels.
 */
record JedisLockClientConfiguration(JedisClientConfiguration application, Duration commandTimeout,
		AtomicBoolean forSentinels) implements JedisClientConfiguration {

	/** How often the nodes of a cluster are looked up: the default lease has ten. */
	private static final int TIMEOUTS_PER_TOPOLOGY = 5;

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
		return Optional.of((builder) -> {
			this.application.getClientConfigCustomizer().ifPresent((customizer) -> customizer.customize(builder));
			// only a subscription reads without the read timeout
			builder.blockingSocketTimeoutMillis(
					Math.toIntExact(RedisConnections.longestSilence(this.commandTimeout).toMillis()));
		});
	}

	@Override
	public Optional<JedisClientBuilderCustomizer> getClientCustomizer() {
		return Optional.of((builder) -> {
			if (builder instanceof ClusterClientBuilder<?> cluster) {
				// a process that only renews would never learn of a new master
				cluster.topologyRefreshPeriod(this.commandTimeout.multipliedBy(TIMEOUTS_PER_TOPOLOGY));
				cluster.maxTotalRetriesDuration(this.commandTimeout);
			}
			this.application.getClientCustomizer().ifPresent((customizer) -> customizer.customize(builder));
		});
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
