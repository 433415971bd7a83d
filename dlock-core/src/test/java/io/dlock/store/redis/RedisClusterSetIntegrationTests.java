package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.store.redis.RedisClusterIntegrationTests.Clustered;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The largest set of locks, on all of the three masters of a Redis Cluster.
 */
class RedisClusterSetIntegrationTests extends AbstractRedisClusterTests {

	private static final List<String> KEYS = IntStream.range(0, LockSet.MAX_KEYS).mapToObj((i) -> "key" + i).toList();

	private static final LockSettings SETTINGS = LockSettings.builder()
		.commandTimeout(Patience.COMMAND)
		.lease(Duration.ofSeconds(100))
		.shutdownTimeout(Duration.ZERO)
		.build();

	@ParameterizedTest
	@EnumSource
	void largestSetIsOnAllNodes(Client client) {
		assertThat(KEYS.stream()
			.map((key) -> ClusterSlotHashUtil.calculateSlot(RedisKeys.of("dlock", key).lock()) / SLOTS_PER_NODE))
			.contains(0, 1, 2);
		try (Clustered clustered = new Clustered(this.nodes.get(0), client, Patience.COMMAND);
				Clustered other = new Clustered(this.nodes.get(1), client, Patience.COMMAND);
				LeaseLockRegistry registry = new LeaseLockRegistry(Patience.connected(clustered.store()), SETTINGS);
				LeaseLockRegistry otherProcess = new LeaseLockRegistry(Patience.connected(other.store()), SETTINGS)) {
			LockRequest once = LockRequest.builder("all").waitTime(Duration.ZERO).build();
			try (LockSet set = registry.acquireAll(KEYS)) {
				assertThat(set.handles()).hasSize(LockSet.MAX_KEYS).allMatch(LockHandle::isValid);
				assertThat(otherProcess.tryAcquireAll(once, KEYS)).isEmpty();
				assertThat(clustered.store().inspection().list(100).locks()).hasSize(LockSet.MAX_KEYS);
			}
			assertThat(clustered.store().inspection().list(100).locks()).isEmpty();
			otherProcess.acquireAllAsync(once, KEYS).join().close();
			assertThat(other.store().inspection().list(100).locks()).isEmpty();
		}
	}

}
