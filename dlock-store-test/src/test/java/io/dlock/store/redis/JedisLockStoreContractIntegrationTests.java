package io.dlock.store.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class JedisLockStoreContractIntegrationTests extends AbstractRedisLockStoreContractTests {

	@Override
	RedisConnectionFactory createConnectionFactory(RedisStandaloneConfiguration server) {
		JedisConnectionFactory factory = new JedisConnectionFactory(server);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((JedisConnectionFactory) factory).destroy();
	}

}
