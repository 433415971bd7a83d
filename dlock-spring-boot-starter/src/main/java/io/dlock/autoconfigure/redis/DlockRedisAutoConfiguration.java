package io.dlock.autoconfigure.redis;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.LockRegistry;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.DlockBackend;
import io.dlock.autoconfigure.DlockProperties;
import io.dlock.autoconfigure.LockStoreCandidate;
import io.dlock.fencing.redis.FencedValues;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;

/**
 * Auto-configuration of locks in Redis, and of fenced values in the Redis of the
 * application.
 *
 * @since 0.1
 */
@AutoConfiguration(before = DlockAutoConfiguration.class,
		afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnClass(RedisConnectionFactory.class)
@EnableConfigurationProperties({ DlockProperties.class, DlockRedisProperties.class })
public final class DlockRedisAutoConfiguration {

	@Bean
	@ConditionalOnBean(RedisConnectionFactory.class)
	@ConditionalOnMissingBean(LockRegistry.class)
	LockStoreCandidate<RedisConnectionFactory> redisLockStoreCandidate(
			ObjectProvider<RedisConnectionFactory> connectionFactories, DlockProperties properties,
			DlockRedisProperties redisProperties) {
		return new LockStoreCandidate<>(DlockBackend.REDIS, "a RedisConnectionFactory", RedisConnectionFactory.class,
				() -> choose(connectionFactories),
				(chosen) -> new RedisLockStore(chosen,
						new RedisLockStoreSettings(redisProperties.prefix(), properties.effectiveCommandTimeout(),
								properties.failover().terms(),
								redisProperties.acknowledgement(properties.effectiveCommandTimeout()))));
	}

	private static RedisConnectionFactory choose(ObjectProvider<RedisConnectionFactory> connectionFactories) {
		RedisConnectionFactory connectionFactory = connectionFactories.getIfUnique();
		if (connectionFactory == null) {
			throw new FailureAnalyzedException(
					"dlock does not know which of several RedisConnectionFactory beans to use.",
					"Mark one of them as @Primary.");
		}
		return connectionFactory;
	}

	@Bean
	@Lazy
	@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
	@ConditionalOnMissingBean
	FencedValues dlockFencedValues(RedisConnectionFactory connectionFactory) {
		return new FencedValues(connectionFactory);
	}

}
