package io.dlock.store.redis.connection;

import java.time.Duration;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;

/**
 * The application's client configuration (TLS, credentials), but with the client
 * resources and the timeouts of the lock.
 */
final class LettuceLockClientConfiguration {

	private LettuceLockClientConfiguration() {
	}

	static LettuceClientConfiguration like(LettuceClientConfiguration application, ClientResources resources,
			Duration commandTimeout) {
		LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder()
			.clientResources(resources)
			.clientOptions(options(application, commandTimeout))
			.clientName(application.getClientName().map((name) -> name + "-dlock").orElse("dlock"))
			.commandTimeout(commandTimeout)
			.shutdownTimeout(application.getShutdownTimeout())
			.shutdownQuietPeriod(application.getShutdownQuietPeriod());
		builder.redisCredentialsProviderFactory(
				application.getRedisCredentialsProviderFactory().orElseGet(LettuceCredentials::new));
		if (application.isUseSsl()) {
			LettuceSslClientConfigurationBuilder ssl = builder.useSsl().verifyPeer(application.getVerifyMode());
			return (application.isStartTls() ? ssl.startTls() : ssl).build();
		}
		return builder.build();
	}

	private static ClientOptions options(LettuceClientConfiguration application, Duration commandTimeout) {
		ClientOptions options = application.getClientOptions().orElseGet(ClusterClientOptions::create);
		return options.mutate()
			.autoReconnect(true)
			.suspendReconnectOnProtocolFailure(false)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.timeoutOptions(TimeoutOptions.create())
			.socketOptions(options.getSocketOptions().mutate().connectTimeout(commandTimeout).build())
			.build();
	}

}
