package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.test.MachineWatch;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The facts and locks of Redis servers with different settings.
 */
@Timeout(120)
class RedisInspectionIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static RedisConnectionFactory lettuce(RedisServer server) {
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
			RedisConnectionFactory factory = lettuce(server);
			try (RedisConnection connection = factory.getConnection()) {
				byte[] large = "x".repeat(100_000).getBytes(StandardCharsets.UTF_8);
				for (int i = 0; i < 50; i++) {
					connection.stringCommands().set(("key" + i).getBytes(StandardCharsets.UTF_8), large);
				}
			}
			finally {
				destroy(factory);
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
				RedisConnectionFactory factory = lettuce(master);
				try (RedisConnection connection = factory.getConnection()) {
					assertThat(connection.serverCommands().info("replication")).containsEntry("connected_slaves", "1");
				}
				finally {
					destroy(factory);
				}
			});
			assertThat(store.inspection().diagnose().warnings().toString().contains("min-replicas-to-write"))
				.isEqualTo(warned);
		}
	}

	@Test
	void r55LocksAreFoundAmongManyOtherKeys() {
		try (RedisServer server = RedisServer.start(); RedisLockStore store = store(server)) {
			RedisConnectionFactory factory = lettuce(server);
			try (RedisConnection connection = factory.getConnection()) {
				connection.scriptingCommands().eval("""
						for i = 1, 20000 do redis.call('SET', 'other:' .. i, 'x') end
						redis.call('SET', 'dlock:{b001}:lock:no lock', 'x')
						redis.call('HSET', 'dlock:{b001}:lock:no lock either', 'a', 'b')
						redis.call('HSET', 'other-dlock:{b001}:lock:of another prefix', 'token', '1')
						return 1
						""".getBytes(StandardCharsets.UTF_8), ReturnType.INTEGER, 0);
			}
			finally {
				destroy(factory);
			}
			take(store, "a", "b", "c");
			StoredLocks locks = store.inspection().list(100);
			assertThat(locks.locks()).extracting(StoredLock::storageKey).containsExactlyInAnyOrder("a", "b", "c");
			assertThat(locks.complete()).isTrue();
		}
	}

	@Test
	@Timing
	void r55SearchEndsAfterACommandTimeout() throws Exception {
		try (RedisServer server = RedisServer.start();
				RedisLockStore store = new RedisLockStore(lettuce(server),
						RedisLockStoreSettings.defaults().withCommandTimeout(Duration.ofMillis(200)))) {
			RedisConnectionFactory factory = lettuce(server);
			try (RedisConnection connection = factory.getConnection()) {
				connection.execute("DEBUG", "POPULATE".getBytes(StandardCharsets.UTF_8),
						"3000000".getBytes(StandardCharsets.UTF_8));
			}
			finally {
				destroy(factory);
			}
			Patience.connected(store);
			try (MachineWatch machine = MachineWatch.start()) {
				assertThat(machine.time(() -> assertThat(store.inspection().list(100).complete()).isFalse()))
					.isLessThan(Duration.ofSeconds(2));
			}
		}
	}

	private static void take(RedisLockStore store, String... keys) {
		for (String key : keys) {
			assertThat(store.acquire(new AcquireCommand(key, "owner", LEASE, "holder", "")))
				.isInstanceOf(Granted.class);
		}
	}

	/**
	 * Two masters, each with half of the slots.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void r55AllNodesOfAClusterAreLookedAt(boolean jedis) {
		String[] nodeSettings = { "--cluster-enabled", "yes", "--appendonly", "yes" };
		try (RedisServer first = RedisServer.start(nodeSettings);
				RedisServer second = RedisServer.start(nodeSettings)) {
			addSlots(first, 0, 8192);
			addSlots(second, 8192, 16384);
			onServer(first, "CLUSTER", "MEET", second.host(), Integer.toString(second.port()));
			awaitCluster(first);
			awaitCluster(second);
			RedisClusterConfiguration configuration = new RedisClusterConfiguration(
					List.of(first.host() + ":" + first.port()));
			RedisConnectionFactory factory = jedis ? started(new JedisConnectionFactory(configuration))
					: LettuceFactories.create(configuration);
			try (RedisLockStore store = new RedisLockStore(factory,
					RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND))) {
				String[] keys = IntStream.range(0, 30).mapToObj((i) -> "key" + i).toArray(String[]::new);
				Awaitility.await().ignoreExceptions().untilAsserted(() -> take(store, keys));
				StoredLocks locks = store.inspection().list(100);
				assertThat(locks.locks()).extracting(StoredLock::storageKey).containsExactlyInAnyOrder(keys);
				assertThat(locks.complete()).isTrue();
				StoredLock lock = locks.locks().get(0);
				assertThat(store.inspection().forceRelease(lock.storageKey(), lock.token())).isTrue();
				assertThat(store.inspection().list(100).locks()).hasSize(29);
				StoreFacts facts = store.inspection().diagnose();
				assertThat(facts.server()).endsWith("2 nodes");
				assertThat(facts.role()).isEqualTo("master");
			}
			finally {
				destroy(factory);
			}
		}
	}

	private static void awaitCluster(RedisServer server) {
		RedisConnectionFactory factory = lettuce(server);
		try (RedisConnection connection = factory.getConnection()) {
			Awaitility.await()
				.untilAsserted(() -> assertThat(connection.execute("CLUSTER", "INFO".getBytes(StandardCharsets.UTF_8)))
					.asInstanceOf(InstanceOfAssertFactories.BYTE_ARRAY)
					.asString(StandardCharsets.UTF_8)
					.contains("cluster_state:ok", "cluster_known_nodes:2"));
		}
		finally {
			destroy(factory);
		}
	}

	private static RedisConnectionFactory started(JedisConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static void addSlots(RedisServer server, int from, int to) {
		List<String> arguments = new ArrayList<>(List.of("ADDSLOTS"));
		IntStream.range(from, to).mapToObj(Integer::toString).forEach(arguments::add);
		onServer(server, "CLUSTER", arguments.toArray(String[]::new));
	}

	private static void onServer(RedisServer server, String command, String... arguments) {
		RedisConnectionFactory factory = lettuce(server);
		try (RedisConnection connection = factory.getConnection()) {
			byte[][] bytes = IntStream.range(0, arguments.length)
				.mapToObj((i) -> arguments[i].getBytes(StandardCharsets.UTF_8))
				.toArray(byte[][]::new);
			connection.execute(command, bytes);
		}
		finally {
			destroy(factory);
		}
	}

	private static void destroy(RedisConnectionFactory factory) {
		if (factory instanceof LettuceConnectionFactory lettuce) {
			lettuce.destroy();
		}
		if (factory instanceof JedisConnectionFactory jedis) {
			jedis.destroy();
		}
	}

}
