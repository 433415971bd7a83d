package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.test.JedisFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

class JedisLockStoreIntegrationTests extends AbstractRedisLockStoreTests {

	/**
	 * The process that listens keeps a connection of the pool.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, -1 })
	void mailboxTakesNoConnectionFromTheCommands(int poolSize) {
		GenericObjectPoolConfig<Object> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(poolSize);
		RedisServer server = RedisServer.shared();
		JedisConnectionFactory application = new JedisConnectionFactory(
				new RedisStandaloneConfiguration(server.host(), server.port()),
				JedisClientConfiguration.builder().usePooling().poolConfig(pool).build());
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisLockStore pooled = new RedisLockStore(application, patient());
				Mailbox mailbox = pooled.openMailbox(address, told::add)) {
			assertThat(mailbox).isNotNull();
			granted(pooled.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			AcquireCommand queueing = new AcquireCommand(key(), "b", LEASE, "holder", "", address, true, null);
			assertThat(pooled.acquire(queueing)).isInstanceOf(Refused.class);
			assertThat(pooled.release(key(), "a")).isTrue();
			Awaitility.await().until(() -> !told.isEmpty());
			granted(pooled.acquire(queueing));
			assertThat(pooled.release(key(), "b")).isTrue();
		}
	}

	@Override
	RedisConnectionFactory createConnectionFactory(String host, int port) {
		return JedisFactories.start(new JedisConnectionFactory(new RedisStandaloneConfiguration(host, port)));
	}

	@Override
	RedisConnectionFactory createClusterConnectionFactory(String host, int port) {
		return JedisFactories
			.start(new JedisConnectionFactory(new RedisClusterConfiguration(List.of(host + ":" + port))));
	}

	@Override
	RedisConnectionFactory createSentinelConnectionFactory(RedisSentinelConfiguration configuration) {
		return JedisFactories.start(new JedisConnectionFactory(configuration));
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((JedisConnectionFactory) factory).destroy();
	}

}
