package io.dlock.store.redis;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The stores of several servers that are asked at once.
 */
class RedisNodesIntegrationTests {

	private static final int NODES = 5;

	@Test
	void nodesShareThreadsThatTheLastOneEnds() {
		RedisServer server = RedisServer.shared();
		List<LettuceConnectionFactory> factories = Stream
			.generate(() -> LettuceFactories.create(server.host(), server.port()))
			.limit(NODES)
			.toList();
		Set<Thread> before = clientThreads();
		List<RedisLockStore> nodes = RedisLockStore.nodes(factories, AbstractRedisStoreTests.patient());
		nodes.forEach((node) -> assertThat(node.find("key")).isEmpty());
		Set<Thread> own = clientThreads();
		own.removeAll(before);
		assertThat(own).filteredOn((thread) -> thread.getName().contains("EventLoop"))
			.hasSizeBetween(1, Math.max(2, Runtime.getRuntime().availableProcessors()));
		nodes.subList(1, NODES).forEach((node) -> {
			node.close();
			node.close();
		});
		assertThat(nodes.get(0).find("key")).isEmpty();
		nodes.get(0).close();
		Awaitility.await().until(() -> own.stream().noneMatch(Thread::isAlive));
		factories.forEach(LettuceConnectionFactory::destroy);
	}

	private static Set<Thread> clientThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("lettuce-"))
			.collect(Collectors.toSet());
	}

}
