package io.dlock.store.quorum;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

/**
 * The contract on three Redis servers.
 */
class RedisQuorumLockStoreContractIntegrationTests extends AbstractQuorumContract<RedisLockStore> {

	private static final List<RedisServer> SERVERS = Stream.generate(() -> RedisServer.start()).limit(3).toList();

	private final List<LettuceConnectionFactory> factories = SERVERS.stream()
		.map((server) -> LettuceFactories.create(server.host(), server.port()))
		.toList();

	@Override
	List<RedisLockStore> createNodes() {
		RedisLockStoreSettings settings = RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND);
		return RedisLockStore.nodes(this.factories, settings);
	}

	@Override
	protected void loseEverything() {
		this.factories.forEach((factory) -> {
			try (RedisConnection connection = factory.getConnection()) {
				connection.serverCommands().flushAll();
			}
		});
	}

	/**
	 * Locks of a bucket share a fence, and that of a test may be in the future.
	 */
	@AfterEach
	void forgetTokens() {
		loseEverything();
		this.factories.forEach(LettuceConnectionFactory::destroy);
	}

	@AfterAll
	static void stopServers() {
		SERVERS.forEach(RedisServer::close);
	}

}
