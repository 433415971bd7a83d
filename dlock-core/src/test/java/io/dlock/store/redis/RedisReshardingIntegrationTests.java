package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.store.redis.RedisClusterIntegrationTests.Clustered;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A slot of a Redis Cluster moves to another of three nodes, key by key, while a lock in
 * it is held and waited for.
 */
class RedisReshardingIntegrationTests extends AbstractRedisClusterTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

	private static final LockSettings SETTINGS = LockSettings.builder()
		.commandTimeout(COMMAND_TIMEOUT)
		.lease(Duration.ofSeconds(40))
		.waitTime(Duration.ofMinutes(2))
		.shutdownTimeout(Duration.ZERO)
		.build();

	private static final String KEY = "moving";

	private static final RedisKeys KEYS = RedisKeys.of("dlock", KEY);

	private static final int SLOT = ClusterSlotHashUtil.calculateSlot(KEYS.lock());

	private final RedisServer source = this.nodes.get(SLOT / SLOTS_PER_NODE);

	private final RedisServer target = this.nodes.get((SLOT / SLOTS_PER_NODE + 1) % 3);

	@ParameterizedTest
	@EnumSource
	void heldLockStaysHeldWhileItsSlotMoves(Client client) {
		try (Clustered one = new Clustered(this.nodes.get(0), client, COMMAND_TIMEOUT);
				Clustered two = new Clustered(this.nodes.get(1), client, COMMAND_TIMEOUT);
				Clustered three = new Clustered(this.nodes.get(2), client, COMMAND_TIMEOUT);
				LeaseLockRegistry registry = new LeaseLockRegistry(Patience.connected(one.store()), SETTINGS);
				LeaseLockRegistry waitingProcess = new LeaseLockRegistry(Patience.connected(two.store()), SETTINGS);
				LeaseLockRegistry other = new LeaseLockRegistry(Patience.connected(three.store()), SETTINGS)) {
			LockHandle holder = registry.acquire(KEY);
			CompletableFuture<LockHandle> waiting = waitingProcess.acquireAsync(LockRequest.of(KEY));
			assertThat(other.tryAcquire(KEY, Duration.ofMillis(200))).isEmpty();
			Awaitility.await().until(() -> queueOf(this.source).contains(" "));
			setSlot(this.target, "IMPORTING", this.source);
			setSlot(this.source, "MIGRATING", this.target);
			staysHeld(holder, other, waiting);
			migrate(KEYS.lock());
			staysHeld(holder, other, waiting);
			migrate(KEYS.fence());
			staysHeld(holder, other, waiting);
			holder.release();
			// a process that takes its turn too late acquires a free lock only then
			for (RedisServer node : this.nodes) {
				setSlot(node, "NODE", this.target);
			}
			assertThat(waiting).succeedsWithin(Patience.EVENTUALLY)
				.satisfies((next) -> assertThat(next.token()).isGreaterThan(holder.token()));
			LockHandle next = waiting.join();
			staysHeld(next, other, new CompletableFuture<>());
			next.release();
			other.acquire(KEY).release();
		}
	}

	private static void staysHeld(LockHandle holder, LeaseLockRegistry other, CompletableFuture<LockHandle> waiting) {
		holder.renewNow();
		assertThat(holder.isValid()).isTrue();
		assertThat(tryAcquire(other)).isEmpty();
		assertThat(waiting).isNotDone();
	}

	/**
	 * A script with two keys is refused while only one of them has moved.
	 */
	private static Optional<LockHandle> tryAcquire(LeaseLockRegistry registry) {
		try {
			return registry.tryAcquire(KEY, Duration.ofMillis(200));
		}
		catch (LockStoreException ex) {
			assertThat(ex).hasMessageContaining("TRYAGAIN");
			return Optional.empty();
		}
	}

	private void setSlot(RedisServer server, String state, RedisServer node) {
		RedisClusterIntegrationTests.call(server, "CLUSTER", "SETSLOT", Integer.toString(SLOT), state,
				RedisClusterIntegrationTests.call(node, "CLUSTER", "MYID"));
	}

	private static String queueOf(RedisServer server) {
		return RedisClusterIntegrationTests.call(server, "HGET", new String(KEYS.lock(), StandardCharsets.US_ASCII),
				"waiting");
	}

	private void migrate(byte[] key) {
		assertThat(RedisClusterIntegrationTests.call(this.source, "MIGRATE", this.target.host(),
				Integer.toString(this.target.port()), new String(key, StandardCharsets.US_ASCII), "0", "5000"))
			.contains("OK");
	}

}
