package io.dlock.store.redis;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

import io.dlock.test.RedisServer;

/**
 * Base class of tests on a Redis Cluster of three masters, which goes on while slots are
 * without a node.
 */
@Timeout(240)
abstract class AbstractRedisClusterTests {

	/** Each has a third of the slots. */
	static final int SLOTS_PER_NODE = 5462;

	final List<RedisServer> nodes = Stream
		.generate(() -> RedisServer.start("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"))
		.limit(3)
		.toList();

	@BeforeEach
	void formCluster() {
		RedisClusterIntegrationTests.form(this.nodes);
	}

	@AfterEach
	void stopNodes() {
		this.nodes.forEach(RedisServer::close);
	}

}
