package io.dlock.store.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.test.LettuceFactories;

class LettuceLockStoreContractIntegrationTests extends AbstractRedisLockStoreContractTests {

	@Override
	RedisConnectionFactory createConnectionFactory(RedisStandaloneConfiguration server) {
		return LettuceFactories.create(server);
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((LettuceConnectionFactory) factory).destroy();
	}

}
