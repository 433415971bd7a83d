package io.dlock.store.redis;

import java.util.List;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
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
	RedisConnectionFactory createClusterConnectionFactory(String host, int port) {
		JedisConnectionFactory factory = new JedisConnectionFactory(
				new RedisClusterConfiguration(List.of(host + ":" + port)));
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((JedisConnectionFactory) factory).destroy();
	}

}
