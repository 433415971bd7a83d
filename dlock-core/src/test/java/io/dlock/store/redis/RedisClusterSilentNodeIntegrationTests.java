package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * One node of a Redis Cluster that answers nothing: what it does to the connections to
 * the others, and to its own. Calls of several threads time out at once.
 */
class RedisClusterSilentNodeIntegrationTests extends AbstractRedisClusterTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);

	private static final int CALLERS = 6;

	private static final Pattern CONNECTION = Pattern.compile("(?m)^(id=\\d+) .* name=dlock .*$");

	private LettuceConnectionFactory factory;

	private RedisLockStore store;

	@BeforeEach
	void connect() {
		RedisServer first = this.nodes.get(0);
		this.factory = LettuceFactories
			.create(new RedisClusterConfiguration(List.of(first.host() + ":" + first.port())));
		this.store = new RedisLockStore(this.factory,
				RedisLockStoreSettings.defaults().withCommandTimeout(COMMAND_TIMEOUT));
		Awaitility.await()
			.ignoreExceptions()
			.untilAsserted(() -> IntStream.range(0, 3).forEach((node) -> assertThat(acquire(node)).isTrue()));
	}

	@AfterEach
	void disconnect() {
		this.store.close();
		this.factory.destroy();
	}

	private boolean acquire(int node) {
		String key = Stream.generate(() -> UUID.randomUUID().toString())
			.filter((each) -> RedisClusterIntegrationTests.slot(each) / SLOTS_PER_NODE == node)
			.findFirst()
			.orElseThrow();
		return this.store.acquire(
				new AcquireCommand(key, "a", Duration.ofSeconds(1), "holder", "")) instanceof AcquireResult.Granted;
	}

	private List<String> connections(int node) {
		return CONNECTION.matcher(RedisClusterIntegrationTests.call(this.nodes.get(node), "CLIENT", "LIST"))
			.results()
			.map((result) -> result.group(1))
			.toList();
	}

	/**
	 * Each caller meets the node twice.
	 */
	private void callInVain(int node) {
		CompletableFuture<?>[] callers = IntStream.range(0, CALLERS)
			.mapToObj((i) -> CompletableFuture.runAsync(() -> IntStream.range(0, 2)
				.forEach((time) -> assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(node))),
					(work) -> new Thread(work).start()))
			.toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(callers).join();
	}

	@Test
	void connectionsToOtherNodesStay() {
		List<String> before = connections(0);
		assertThat(before).isNotEmpty();
		this.nodes.get(2).pause();
		callInVain(2);
		assertThat(connections(0)).containsAll(before);
	}

	@Test
	void nodeIsConnectedToAgain() {
		List<String> before = connections(2);
		this.nodes.get(2).pause();
		Awaitility.await()
			.untilAsserted(() -> assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(2))
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE)));
		this.nodes.get(2).resume();
		Awaitility.await().ignoreExceptions().until(() -> acquire(2));
		assertThat(connections(2)).isNotEmpty();
		assertThat(connections(2).containsAll(before)).as("all connections are those of before").isFalse();
	}

	/**
	 * It may have a successor that the others know.
	 */
	@Test
	void refusalOfAFormerMasterHasTheTopologyAskedFor() {
		List<String> before = connections(0);
		RedisClusterIntegrationTests.call(this.nodes.get(2), "CONFIG", "SET", "min-replicas-to-write", "1");
		RedisClusterIntegrationTests.call(this.nodes.get(0), "CONFIG", "RESETSTAT");
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(2))
			.withMessageContaining("NOREPLICAS");
		Awaitility.await()
			.until(() -> RedisClusterIntegrationTests.call(this.nodes.get(0), "INFO", "commandstats")
				.contains("cmdstat_cluster"));
		assertThat(connections(0)).containsAll(before);
	}

	@Test
	void callAfterTheCloseIsNotSent() {
		this.store.close();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(0))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
	}

}
