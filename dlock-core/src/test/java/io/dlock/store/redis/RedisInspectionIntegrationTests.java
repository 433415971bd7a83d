package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The facts and locks of Redis servers with different settings.
 */
@Timeout(120)
class RedisInspectionIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	/** DEBUG POPULATE is switched off from Redis 7 on. */
	private static final String POPULATE = """
			for i = 1, 20000 do redis.call('SET', 'other:' .. i, 'x') end
			redis.call('SET', 'dlock:{b001}:lock:no lock', 'x')
			redis.call('HSET', 'dlock:{b001}:lock:no lock either', 'a', 'b')
			redis.call('HSET', 'other-dlock:{b001}:lock:of another prefix', 'token', '1')
			return 1
			""";

	private static LettuceConnectionFactory lettuce(RedisServer server) {
		return LettuceFactories.create(server.host(), server.port());
	}

	private static RedisLockStore store(RedisServer server) {
		return new RedisLockStore(lettuce(server),
				RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	private static StoreFacts facts(String... configuration) {
		try (RedisServer server = RedisServer.start(configuration); RedisLockStore store = store(server)) {
			return store.inspection().diagnose();
		}
	}

	@Test
	void r19RecommendedSettingsGiveNoWarning() {
		StoreFacts facts = facts("--appendonly", "yes", "--appendfsync", "always");
		assertThat(facts.server()).matches("(Redis|Valkey) \\d+\\.\\d+\\.\\d+");
		assertThat(facts.role()).isEqualTo("master");
		assertThat(facts.warnings()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "volatile-lru", "allkeys-random", "volatile-ttl" })
	void r19EvictionPolicyIsWarnedOf(String policy) {
		assertThat(facts("--maxmemory-policy", policy, "--appendonly", "yes").warnings()).singleElement()
			.asString()
			.contains(policy, "noeviction");
	}

	@Test
	void r19EvictionIsWarnedOf() {
		try (RedisServer server = RedisServer.start("--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru");
				RedisLockStore store = store(server)) {
			LettuceConnectionFactory factory = lettuce(server);
			try (RedisConnection connection = factory.getConnection()) {
				byte[] large = "x".repeat(100_000).getBytes(StandardCharsets.UTF_8);
				for (int i = 0; i < 50; i++) {
					connection.stringCommands().set(("key" + i).getBytes(StandardCharsets.UTF_8), large);
				}
			}
			finally {
				factory.destroy();
			}
			assertThat(store.inspection().diagnose().warnings())
				.anySatisfy((warning) -> assertThat(warning).contains("keys have been evicted"));
		}
	}

	@Test
	void r19MissingPersistenceIsWarnedOf() {
		assertThat(facts().warnings()).singleElement().asString().contains("appendonly is off");
	}

	@Test
	void r19ReplicaIsReported() {
		try (RedisServer master = RedisServer.start();
				RedisServer replica = RedisServer.start("--replicaof", master.host(), Integer.toString(master.port()));
				RedisLockStore store = store(replica)) {
			StoreFacts facts = store.inspection().diagnose();
			assertThat(facts.role()).isEqualTo("replica");
			assertThat(facts.warnings()).anySatisfy((warning) -> assertThat(warning).contains("takes no locks"));
		}
	}

	@ParameterizedTest
	@CsvSource({ "0, true", "1, false" })
	void r19MasterThatNeedsNoReplicasIsWarnedOf(String minReplicas, boolean warned) {
		try (RedisServer master = RedisServer.start("--min-replicas-to-write", minReplicas);
				RedisServer replica = RedisServer.start("--replicaof", master.host(), Integer.toString(master.port()));
				RedisLockStore store = store(master)) {
			assertThat(replica.port()).isNotEqualTo(master.port());
			Awaitility.await().untilAsserted(() -> {
				LettuceConnectionFactory factory = lettuce(master);
				try (RedisConnection connection = factory.getConnection()) {
					assertThat(connection.serverCommands().info("replication")).containsEntry("connected_slaves", "1");
				}
				finally {
					factory.destroy();
				}
			});
			assertThat(store.inspection().diagnose().warnings().toString().contains("min-replicas-to-write"))
				.isEqualTo(warned);
		}
	}

	private static void populate(RedisServer server) {
		LettuceConnectionFactory factory = lettuce(server);
		try (RedisConnection connection = factory.getConnection()) {
			connection.scriptingCommands().eval(POPULATE.getBytes(StandardCharsets.UTF_8), ReturnType.INTEGER, 0);
		}
		finally {
			factory.destroy();
		}
	}

	@Test
	void r55LocksAreFoundAmongManyOtherKeys() {
		try (RedisServer server = RedisServer.start(); RedisLockStore store = store(server)) {
			populate(server);
			take(store, "a", "b", "c");
			StoredLocks locks = store.inspection().list(100);
			assertThat(locks.locks()).extracting(StoredLock::storageKey).containsExactlyInAnyOrder("a", "b", "c");
			assertThat(locks.complete()).isTrue();
			assertThat(store.inspection().list(3).complete()).as("as many as there are").isTrue();
			assertThat(store.inspection().list(2).complete()).isFalse();
		}
	}

	/**
	 * The whole search would take twenty calls, which is twice the timeout.
	 */
	@Test
	void r55SearchEndsAfterACommandTimeout() {
		try (RedisServer server = RedisServer.start();
				TcpProxy proxy = TcpProxy.to(server.host(), server.port());
				RedisLockStore store = new RedisLockStore(LettuceFactories.create(server.host(), proxy.port()),
						RedisLockStoreSettings.defaults().withCommandTimeout(Duration.ofSeconds(2)))) {
			populate(server);
			Patience.connected(store);
			proxy.delayReplies(Duration.ofMillis(200));
			assertThat(store.inspection().list(100).complete()).isFalse();
		}
	}

	private static void take(RedisLockStore store, String... keys) {
		for (String key : keys) {
			assertThat(store.acquire(new AcquireCommand(key, "owner", LEASE, "holder", "")))
				.isInstanceOf(Granted.class);
		}
	}

}
