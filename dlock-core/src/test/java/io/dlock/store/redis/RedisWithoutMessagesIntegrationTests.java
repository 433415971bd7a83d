package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.store.redis.ApplicationConnectionsTests.UnknownFactory;
import io.dlock.store.redis.connection.RedisConnectionsFactory;
import io.dlock.test.CapturedLog;
import io.dlock.test.DocsPage;
import io.dlock.test.JedisFactories;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A Redis whose scripts may not send messages, as with some offers without a server of
 * one's own, or that lets the user receive none.
 */
@Timeout(240)
class RedisWithoutMessagesIntegrationTests {

	private static final LockSettings SETTINGS = LockSettings.builder()
		.commandTimeout(Patience.COMMAND)
		.lease(Duration.ofSeconds(100))
		.waitTime(Duration.ofSeconds(50))
		.shutdownTimeout(Duration.ZERO)
		.build();

	private final RedisServer server = RedisServer.shared();

	private final String key = "silent/" + UUID.randomUUID();

	@ParameterizedTest
	@CsvSource({ "LETTUCE, -publish, true", "JEDIS, -publish, true", "LETTUCE, resetchannels, true",
			"JEDIS, resetchannels, true", "LETTUCE, -subscribe, false", "JEDIS, -subscribe, false" })
	void r19WaitingProcessesPollAndOneWarningTellsWhy(Client client, String change, boolean atStart) {
		enter(DocsPage.of("operations.md").lines("ACL SETUSER dlock ").get(0).replace("SECRET", "secret"));
		enter("ACL SETUSER dlock +info " + change);
		RedisConnectionFactory application = factory(client);
		try (CapturedLog log = CapturedLog.of(RedisMailboxes.class);
				RedisLockStore store = store(application);
				RedisLockStore other = store(application);
				LeaseLockRegistry registry = new LeaseLockRegistry(store, SETTINGS);
				LeaseLockRegistry otherProcess = new LeaseLockRegistry(other, SETTINGS)) {
			Patience.connected(store);
			assertThat(log.messages()).hasSize(atStart ? 1 : 0);
			store.verify();
			Patience.connected(other);
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> other.openMailbox(MailboxAddress.create(Duration.ofSeconds(9)), (message) -> {
				}));
			for (int i = 0; i < 3; i++) {
				LockHandle holder = otherProcess.acquire(this.key);
				assertThat(registry.tryAcquire(this.key, Duration.ofMillis(300))).isEmpty();
				CompletableFuture<LockHandle> waiting = registry.acquireAsync(LockRequest.of(this.key));
				assertThat(waiting).isNotDone();
				holder.release();
				assertThat(waiting).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
			}
			Awaitility.await()
				.untilAsserted(() -> assertThat(log.messages()).as("one for each of the two stores")
					.hasSize(2)
					.allSatisfy((message) -> assertThat(message).contains("poll", "+publish", "&dlock:mail:*")));
			assertThat(store.inspection().diagnose().warnings()).contains(log.messages().get(0));
		}
		finally {
			destroy(application);
		}
	}

	@ParameterizedTest
	@EnumSource
	void r19SubscriptionThatSucceedsEndsTheWarning(Client client) {
		enter("ACL SETUSER dlock on >secret ~* &* +@all -subscribe");
		RedisConnectionFactory application = factory(client);
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (RedisLockStore store = store(application)) {
			Patience.connected(store);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> store.openMailbox(address, (key) -> {
			}));
			assertThat(store.inspection().diagnose().warnings()).anyMatch((warning) -> warning.contains("poll"));
			enter("ACL SETUSER dlock +subscribe");
			try (Mailbox mailbox = store.openMailbox(address, (key) -> {
			})) {
				assertThat(mailbox).isNotNull();
				assertThat(store.inspection().diagnose().warnings()).noneMatch((warning) -> warning.contains("poll"));
			}
		}
		finally {
			destroy(application);
		}
	}

	/**
	 * With Lettuce. The subscription of Jedis may have a connection of its pool.
	 */
	@Test
	void fullServerDoesNotCountAsOneThatRefusesMessages() {
		try (RedisServer full = RedisServer.start(); CapturedLog log = CapturedLog.of(RedisMailboxes.class)) {
			RedisStandaloneConfiguration address = new RedisStandaloneConfiguration(full.host(), full.port());
			LettuceConnectionFactory application = LettuceFactories.create(address);
			try (RedisLockStore store = store(application)) {
				Patience.connected(store);
				LettuceFactories.call(address, "CONFIG", "SET", "maxclients", "1");
				assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> store.openMailbox(MailboxAddress.create(Duration.ofSeconds(9)), (key) -> {
					}));
				assertThat(log.messages()).isEmpty();
			}
			finally {
				application.destroy();
			}
		}
	}

	/**
	 * An answer to the end of a subscription of Jedis may be left on a connection of the
	 * pool. A lock would take it for its own.
	 */
	@ParameterizedTest
	@EnumSource
	void waitingProcessesPollWithAClientThatTheStoreDoesNotKnow(Client client) {
		enter("ACL SETUSER dlock on >secret ~* &* +@all");
		RedisConnectionFactory application = factory(client);
		try (CapturedLog log = CapturedLog.of(RedisConnectionsFactory.class);
				RedisLockStore store = store(new UnknownFactory(application));
				LeaseLockRegistry registry = new LeaseLockRegistry(store, SETTINGS)) {
			Patience.connected(store);
			assertThat(store.openMailbox(MailboxAddress.create(Duration.ofSeconds(9)), (message) -> {
			})).isNull();
			assertThat(log.messages()).singleElement(InstanceOfAssertFactories.STRING).contains("poll", "timeout");
			LockHandle holder = registry.acquire(this.key);
			CompletableFuture<LockHandle> waiting = registry.acquireAsync(LockRequest.of(this.key));
			holder.release();
			assertThat(waiting).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
			assertThat(store.inspection().diagnose().warnings()).noneMatch((warning) -> warning.contains("poll"));
		}
		finally {
			destroy(application);
		}
	}

	private static RedisLockStore store(RedisConnectionFactory application) {
		return new RedisLockStore(application,
				RedisLockStoreSettings.defaults().withCommandTimeout(Duration.ofSeconds(2)));
	}

	private RedisConnectionFactory factory(Client client) {
		RedisStandaloneConfiguration user = new RedisStandaloneConfiguration(this.server.host(), this.server.port());
		user.setUsername("dlock");
		user.setPassword("secret");
		if (client == Client.LETTUCE) {
			return LettuceFactories.create(user);
		}
		return JedisFactories.start(new JedisConnectionFactory(user));
	}

	private static void destroy(RedisConnectionFactory factory) {
		((SmartLifecycle) factory).stop();
	}

	private void enter(String line) {
		LettuceConnectionFactory admin = LettuceFactories.create(this.server.host(), this.server.port());
		try (RedisConnection connection = admin.getConnection()) {
			String[] words = line.split(" ");
			connection.execute(words[0],
					Arrays.stream(words)
						.skip(1)
						.map((word) -> word.getBytes(StandardCharsets.UTF_8))
						.toArray(byte[][]::new));
		}
		finally {
			admin.destroy();
		}
	}

}
