package io.dlock.store.redis;

import java.time.Duration;
import java.util.Optional;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * The application's client configuration (TLS, credentials, client resources), but with
 * the timeouts of the lock.
 */
record LettuceLockClientConfiguration(LettuceClientConfiguration application, ClientResources resources,
		Duration commandTimeout) implements LettuceClientConfiguration {

	@Override
	public boolean isUseSsl() {
		return this.application.isUseSsl();
	}

	@Override
	@SuppressWarnings("deprecation")
	public boolean isVerifyPeer() {
		return this.application.isVerifyPeer();
	}

	@Override
	public SslVerifyMode getVerifyMode() {
		return this.application.getVerifyMode();
	}

	@Override
	public boolean isStartTls() {
		return this.application.isStartTls();
	}

	@Override
	public Optional<ClientResources> getClientResources() {
		return Optional.of(this.resources);
	}

	@Override
	public Optional<ClientOptions> getClientOptions() {
		ClientOptions options = this.application.getClientOptions().orElseGet(ClusterClientOptions::create);
		SocketOptions socketOptions = options.getSocketOptions().mutate().connectTimeout(this.commandTimeout).build();
		return Optional.of(options.mutate()
			.autoReconnect(true)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.timeoutOptions(TimeoutOptions.create())
			.socketOptions(socketOptions)
			.build());
	}

	@Override
	public Optional<String> getClientName() {
		return Optional.of(this.application.getClientName().map((name) -> name + "-dlock").orElse("dlock"));
	}

	@Override
	public Optional<ReadFrom> getReadFrom() {
		return Optional.empty();
	}

	@Override
	public Optional<RedisCredentialsProviderFactory> getRedisCredentialsProviderFactory() {
		return this.application.getRedisCredentialsProviderFactory();
	}

	@Override
	public Duration getCommandTimeout() {
		return this.commandTimeout;
	}

	@Override
	public Duration getShutdownTimeout() {
		return this.application.getShutdownTimeout();
	}

	@Override
	public Duration getShutdownQuietPeriod() {
		return this.application.getShutdownQuietPeriod();
	}

}
