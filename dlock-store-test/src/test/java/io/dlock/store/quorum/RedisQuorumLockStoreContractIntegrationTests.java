package io.dlock.store.quorum;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.store.test.LockStoreContract;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

/**
 * The contract on three Redis servers.
 */
class RedisQuorumLockStoreContractIntegrationTests extends LockStoreContract {

	private static final List<RedisServer> SERVERS = Stream.generate(() -> RedisServer.start()).limit(3).toList();

	private final List<LettuceConnectionFactory> factories = SERVERS.stream()
		.map((server) -> LettuceFactories.create(server.host(), server.port()))
		.toList();

	private final List<RedisLockStore> nodes = new ArrayList<>();

	@Override
	protected LockStore createStore() {
		this.factories.forEach((factory) -> this.nodes
			.add(new RedisLockStore(factory, RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND))));
		return new QuorumLockStore(this.nodes,
				QuorumSettings.defaults().withCommandTimeout(Patience.COMMAND).withLongestLease(Duration.ZERO));
	}

	@Override
	protected void loseEverything() {
		this.factories.forEach((factory) -> {
			try (RedisConnection connection = factory.getConnection()) {
				connection.serverCommands().flushAll();
			}
		});
	}

	@Override
	protected void setLastToken(long token) {
		this.nodes.forEach((node) -> {
			node.acquire(new AcquireCommand(key(), "token", Duration.ofSeconds(10), "", ""));
			node.raiseToken(key(), "token", token);
			node.release(key(), "token");
		});
	}

	@Override
	protected Set<Feature> features() {
		return EnumSet.of(Feature.INSPECTION);
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
