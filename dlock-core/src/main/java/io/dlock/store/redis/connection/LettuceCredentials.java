package io.dlock.store.redis.connection;

import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.StaticCredentialsProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithAuthentication;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.StringUtils;

/**
 * The configured user and password, which are known at once. Lettuce resolves any others
 * on the common pool of the JVM: it cannot connect while all threads of that pool wait
 * for locks.
 */
final class LettuceCredentials implements RedisCredentialsProviderFactory {

	@Override
	public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
		return (configuration instanceof WithAuthentication authenticated)
				? known(authenticated.getUsername(), authenticated.getPassword()) : known(null, RedisPassword.none());
	}

	@Override
	public RedisCredentialsProvider createSentinelCredentialsProvider(RedisSentinelConfiguration configuration) {
		return known(configuration.getSentinelUsername(), configuration.getSentinelPassword());
	}

	private static RedisCredentialsProvider known(@Nullable String user, RedisPassword password) {
		return new StaticCredentialsProvider(StringUtils.hasText(user) ? user : null,
				password.toOptional().orElse(null));
	}

}
