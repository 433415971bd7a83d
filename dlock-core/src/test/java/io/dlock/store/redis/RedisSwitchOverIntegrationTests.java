package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.test.JedisFactories;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A planned switch-over of Sentinels while locks are held, waited for and taken all the
 * time.
 */
@Timeout(240)
class RedisSwitchOverIntegrationTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(4);

	private static final Duration LEASE = Duration.ofSeconds(20);

	private static final LockSettings SETTINGS = LockSettings.builder()
		.commandTimeout(COMMAND_TIMEOUT)
		.lease(LEASE)
		.waitTime(Duration.ofMinutes(2))
		.shutdownTimeout(Duration.ZERO)
		.build();

	private static final int BUSY = 3;

	private final RedisServer master = RedisServer.start();

	private final RedisServer replica = RedisServer.start("--replicaof", this.master.host(),
			Integer.toString(this.master.port()));

	private final RedisServer sentinel = RedisServer
		.startSentinel(List.of("sentinel monitor primary 127.0.0.1 " + this.master.port() + " 1",
				"sentinel down-after-milliseconds primary 60000"));

	@BeforeEach
	void awaitReplica() {
		Awaitility.await().untilAsserted(() -> {
			assertThat(RedisClusterIntegrationTests.call(this.sentinel, "INFO", "sentinel")).contains("slaves=1");
			assertThat(RedisClusterIntegrationTests.call(this.replica, "INFO", "replication"))
				.contains("master_link_status:up");
		});
	}

	@AfterEach
	void stop() {
		Stream.of(this.sentinel, this.replica, this.master).forEach(RedisServer::close);
	}

	@ParameterizedTest
	@EnumSource
	void heldLockStaysHeldAndWaitingEndsWithinALease(Client client) {
		RedisConnectionFactory application = factory(client);
		AtomicBoolean stopped = new AtomicBoolean();
		List<AtomicLong> cycles = Stream.generate(AtomicLong::new).limit(BUSY).toList();
		try (RedisLockStore store = store(application);
				RedisLockStore otherStore = store(application);
				LeaseLockRegistry registry = new LeaseLockRegistry(store, SETTINGS);
				LeaseLockRegistry other = new LeaseLockRegistry(otherStore, SETTINGS)) {
			LockHandle holder = registry.acquire("held");
			CompletableFuture<LockHandle> waiting = other.acquireAsync(LockRequest.of("held"));
			List<CompletableFuture<Void>> busy = IntStream.range(0, BUSY)
				.mapToObj(
						(i) -> CompletableFuture.runAsync(() -> keepBusy(registry, "busy" + i, cycles.get(i), stopped),
								(task) -> new Thread(task, "busy").start()))
				.toList();
			Awaitility.await().until(() -> cycles.stream().allMatch((count) -> count.get() > 10));
			assertThat(RedisClusterIntegrationTests.call(this.sentinel, "SENTINEL", "FAILOVER", "primary"))
				.contains("OK");
			Awaitility.await()
				.ignoreExceptions()
				.until(() -> RedisClusterIntegrationTests.call(this.replica, "INFO", "replication")
					.contains("role:master"));
			List<Long> before = cycles.stream().map(AtomicLong::get).toList();
			Awaitility.await()
				.atMost(LEASE)
				.until(() -> IntStream.range(0, BUSY).allMatch((i) -> cycles.get(i).get() > before.get(i) + 10));
			Awaitility.await()
				.ignoreExceptions()
				.until(() -> RedisClusterIntegrationTests.call(this.master, "INFO", "replication")
					.contains("role:slave"));
			assertThat(waiting).isNotDone();
			holder.renewNow();
			holder.release();
			assertThat(waiting).succeedsWithin(LEASE).satisfies(LockHandle::release);
			stopped.set(true);
			assertThat(busy).allSatisfy((task) -> assertThat(task).succeedsWithin(Patience.EVENTUALLY));
		}
		finally {
			stopped.set(true);
			destroy(application);
		}
	}

	/**
	 * The last locks before the switch-over may be lost with it.
	 */
	private static void keepBusy(LeaseLockRegistry registry, String key, AtomicLong cycles, AtomicBoolean stopped) {
		while (!stopped.get()) {
			try {
				registry.acquire(key).release();
				cycles.incrementAndGet();
			}
			catch (LockException ex) {
				assertThat(ex).isNotNull();
			}
		}
	}

	private static RedisLockStore store(RedisConnectionFactory application) {
		return Patience.connected(
				new RedisLockStore(application, RedisLockStoreSettings.defaults().withCommandTimeout(COMMAND_TIMEOUT)));
	}

	private RedisConnectionFactory factory(Client client) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master("primary")
			.sentinel(this.sentinel.host(), this.sentinel.port());
		if (client == Client.LETTUCE) {
			return LettuceFactories.create(configuration);
		}
		return JedisFactories.start(new JedisConnectionFactory(configuration));
	}

	private static void destroy(RedisConnectionFactory factory) {
		((SmartLifecycle) factory).stop();
	}

}
