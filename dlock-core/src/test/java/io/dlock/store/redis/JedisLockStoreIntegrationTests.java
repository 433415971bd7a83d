package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import redis.clients.jedis.DefaultJedisClientConfig;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.redis.connection.RedisConnections;
import io.dlock.test.CapturedLog;
import io.dlock.test.JedisFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

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

	/**
	 * Spring Data gives a subscription up that the server refuses when it is opened
	 * again.
	 */
	@Test
	void d6SubscriptionThatTheServerRefusedForAWhileIsOpenedAgain() {
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisServer server = RedisServer.start();
				CapturedLog log = CapturedLog.of(RedisMessageListenerContainer.class).from(Level.ERROR)) {
			RedisConnectionFactory factory = createConnectionFactory(server.host(), server.port());
			ConditionFactory patiently = Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.ignoreException(StoreException.class);
			try (RedisLockStore store = new RedisLockStore(factory,
					RedisLockStoreSettings.defaults().withCommandTimeout(TIMEOUT));
					Mailbox mailbox = patiently.until(() -> store.openMailbox(address, told::add), Objects::nonNull)) {
				assertThat(mailbox).isNotNull();
				patiently.until(() -> isTurnTold(store, address, told));
				RedisClusterIntegrationTests.call(server, "ACL", "SETUSER", "default", "resetchannels");
				// its answer is a number, which Lettuce does not expect
				var unused = catchThrowable(
						() -> RedisClusterIntegrationTests.call(server, "CLIENT", "KILL", "TYPE", "pubsub"));
				patiently.until(() -> log.messages().stream().anyMatch((message) -> message.contains("aborted")));
				RedisClusterIntegrationTests.call(server, "ACL", "SETUSER", "default", "allchannels");
				patiently.until(() -> isTurnTold(store, address, told));
			}
			finally {
				destroy(factory);
			}
		}
	}

	/**
	 * They say nothing between two failovers.
	 */
	@Test
	void subscriptionsToSentinelsAreReadWithoutATimeout() {
		List<DefaultJedisClientConfig.Builder> builders = new CopyOnWriteArrayList<>();
		try (RedisServer master = RedisServer.start();
				RedisServer sentinel = RedisServer
					.startSentinel(List.of("sentinel monitor primary 127.0.0.1 " + master.port() + " 1"))) {
			JedisConnectionFactory application = new JedisConnectionFactory(
					new RedisSentinelConfiguration().master("primary").sentinel(sentinel.host(), sentinel.port()),
					JedisClientConfiguration.builder().customizeClientConfig(builders::add).build());
			try (RedisLockStore store = new RedisLockStore(application, patient())) {
				store.verify();
				assertThat(builders).extracting((builder) -> builder.build().getBlockingSocketTimeoutMillis())
					.containsExactly(Math.toIntExact(RedisConnections.longestSilence(Patience.COMMAND).toMillis()), 0);
			}
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
