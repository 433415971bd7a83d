package io.dlock.store.redis;

import java.util.List;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class LettuceLockStoreIntegrationTests extends AbstractRedisLockStoreTests {

	@Override
	RedisConnectionFactory createConnectionFactory(String host, int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(host, port);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	RedisConnectionFactory createClusterConnectionFactory(String host, int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisClusterConfiguration(List.of(host + ":" + port)));
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((LettuceConnectionFactory) factory).destroy();
	}

}
