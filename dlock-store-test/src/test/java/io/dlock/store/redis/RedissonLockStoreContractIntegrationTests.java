package io.dlock.store.redis;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.dlock.test.Patience;

/**
 * A client that the store does not know: it uses the connections of the application, and
 * waiting processes poll.
 */
class RedissonLockStoreContractIntegrationTests extends AbstractRedisLockStoreContractTests {

	private final Set<RedissonClient> clients = new HashSet<>();

	@Override
	protected Set<Feature> features() {
		return EnumSet.complementOf(EnumSet.of(Feature.MAILBOX));
	}

	@Override
	RedisConnectionFactory createConnectionFactory(RedisStandaloneConfiguration server) {
		Config config = new Config();
		config.useSingleServer()
			.setAddress("redis://" + server.getHostName() + ":" + server.getPort())
			.setTimeout((int) Patience.COMMAND.toMillis())
			.setRetryAttempts(0)
			.setConnectionPoolSize(8)
			.setConnectionMinimumIdleSize(1);
		RedissonClient client = Redisson.create(config);
		this.clients.add(client);
		return new RedissonConnectionFactory(client);
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		this.clients.forEach(RedissonClient::shutdown);
		this.clients.clear();
	}

}
