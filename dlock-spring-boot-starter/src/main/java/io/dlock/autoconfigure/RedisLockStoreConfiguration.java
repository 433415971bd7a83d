package io.dlock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;

/**
 * Locks in Redis are possible.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBean(RedisConnectionFactory.class)
class RedisLockStoreConfiguration {

	@Bean
	LockStoreCandidate redisLockStoreCandidate(ObjectProvider<RedisConnectionFactory> connectionFactories,
			DlockProperties properties) {
		return new LockStoreCandidate(DlockBackend.REDIS, "a RedisConnectionFactory", RedisConnectionFactory.class,
				() -> {
					RedisConnectionFactory connectionFactory = connectionFactories.getIfUnique();
					if (connectionFactory == null) {
						throw new FailureAnalyzedException(
								"dlock does not know which of several RedisConnectionFactory beans to use.",
								"Mark one of them as @Primary.");
					}
					return new RedisLockStore(connectionFactory, new RedisLockStoreSettings(properties.redis().prefix(),
							properties.effectiveCommandTimeout()));
				});
	}

}
