package io.dlock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
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
	LockStoreCandidate redisLockStoreCandidate(RedisConnectionFactory connectionFactory, DlockProperties properties) {
		return new LockStoreCandidate(DlockBackend.REDIS, "a RedisConnectionFactory",
				() -> new RedisLockStore(connectionFactory,
						new RedisLockStoreSettings(properties.redis().prefix(), properties.effectiveCommandTimeout())));
	}

}
