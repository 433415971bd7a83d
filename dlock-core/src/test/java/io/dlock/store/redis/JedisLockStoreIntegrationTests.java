package io.dlock.store.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class JedisLockStoreIntegrationTests extends AbstractRedisLockStoreTests {

	@Override
	RedisConnectionFactory createConnectionFactory(String host, int port) {
		JedisConnectionFactory factory = new JedisConnectionFactory(new RedisStandaloneConfiguration(host, port));
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((JedisConnectionFactory) factory).destroy();
	}

}
