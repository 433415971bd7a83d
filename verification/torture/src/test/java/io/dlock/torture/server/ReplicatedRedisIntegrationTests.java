package io.dlock.torture.server;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.dlock.store.Quarantine;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Integration tests for Redis servers with replicas that take over.
 */
@Timeout(300)
class ReplicatedRedisIntegrationTests {

	private static final StoreUnderTest.Mode QUARANTINED = new StoreUnderTest.Mode(false,
			Optional.of(new Quarantine(Duration.ofSeconds(2), Duration.ofSeconds(4))), Map.of());

	@Test
	void sentinelsSendClientsThroughTheProxy() throws IOException {
		try (RedisSentinelStore store = RedisSentinelStore.start(StoresIntegrationTests.DURABLE)) {
			assertThat(store.master(0)).isZero();
			TcpProxy link = store.links().get(0);
			assertThat(link.port()).isNotEqualTo(store.nodes().get(0).port());
			link.resetCounters();
			try (RedisAdmin client = new RedisAdmin("127.0.0.1", link.port(), Duration.ofSeconds(5))) {
				assertThat(client.text("SET", "{a}:lock:key", "1")).isEqualTo("OK");
			}
			assertThat(link.roundTrips()).isPositive();
			assertThat(store.figures()).containsEntry("locks", 1L);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "REDIS_SENTINEL", "REDIS_CLUSTER" })
	void replicaThatLagsTakesOverWithoutTheLatestWrites(StoreType type) throws IOException {
		try (ReplicatedRedis store = (ReplicatedRedis) StoreUnderTest.start(type, StoresIntegrationTests.FORGETFUL)) {
			int master = store.master(0);
			assertThat(set(store, "before")).isEqualTo("OK");
			assertThat(store.processes().admin(master).number("WAIT", "1", "0")).isOne();
			store.holdReplicationBack(master);
			assertThat(set(store, "tail")).isEqualTo("OK");
			ServerNode node = store.nodes().get(master);
			node.kill();
			store.loseReplication(master);
			store.awaitFailover(master);
			node.restart();
			store.awaitReplicas();
			store.awaitReady();
			int successor = store.master(0);
			assertThat(successor).isNotEqualTo(master);
			assertThat(store.processes().admin(successor).text("GET", "{b}before")).isEqualTo("1");
			assertThat(store.processes().admin(successor).call("GET", "{b}tail")).isNull();
			store.switchOver(successor);
			store.awaitFailover(successor);
			store.awaitReplicas();
			assertThat(store.master(0)).isEqualTo(master);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "REDIS_SENTINEL", "REDIS_CLUSTER" })
	void masterWhoseReplicaIsSilentRefusesWritesUntilItIsBack(StoreType type) throws IOException {
		try (ReplicatedRedis store = (ReplicatedRedis) StoreUnderTest.start(type, QUARANTINED)) {
			int master = store.master(0);
			assertThat(set(store, "before")).isEqualTo("OK");
			store.holdReplicationBack(master);
			Awaitility.await()
				.untilAsserted(() -> assertThatExceptionOfType(RedisAdmin.RedisErrorException.class)
					.isThrownBy(() -> set(store, "tail"))
					.withMessageContaining("NOREPLICAS"));
			store.deliverReplication(master);
			store.awaitReplicas();
			assertThat(set(store, "after")).isEqualTo("OK");
			assertThat(store.master(0)).isEqualTo(master);
		}
	}

	/**
	 * The slot of the key is on the first master.
	 */
	private static String set(ReplicatedRedis store, String name) throws IOException {
		return store.processes().admin(store.master(0)).text("SET", "{b}" + name, "1");
	}

}
