package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.quorum.QuorumLockStore;
import io.dlock.store.quorum.QuorumSettings;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A quorum of real servers that come back with an old part of their data.
 */
class RedisQuorumRestartIntegrationTests {

	/** Longer than the test takes. */
	private static final Duration LEASE = Duration.ofMinutes(10);

	private final List<RedisServer> servers = Stream.generate(RedisServer::start).limit(3).toList();

	private final List<LettuceConnectionFactory> factories = this.servers.stream()
		.map((server) -> LettuceFactories.create(server.host(), server.port()))
		.toList();

	@AfterEach
	void stop() {
		this.factories.forEach(LettuceConnectionFactory::destroy);
		this.servers.forEach(RedisServer::close);
	}

	private QuorumLockStore quorum(Duration longestLease) {
		RedisLockStoreSettings settings = AbstractRedisStoreTests.patient()
			.withQuarantine(new Quarantine(longestLease, Duration.ZERO));
		return Patience.connected(new QuorumLockStore(RedisLockStore.nodes(this.factories, settings),
				QuorumSettings.defaults().withCommandTimeout(Patience.COMMAND)));
	}

	private static AcquireResult acquire(LockStore store, String owner, Duration lease) {
		return store.acquire(new AcquireCommand("key", owner, lease, owner, ""));
	}

	@Test
	void oldSnapshotOfAMajorityMakesNoSecondHolder() {
		Duration first = Duration.ofSeconds(1);
		try (QuorumLockStore one = quorum(first)) {
			this.servers
				.forEach((server) -> assertThat(RedisClusterIntegrationTests.call(server, "SAVE")).contains("OK"));
			Awaitility.await()
				.ignoreException(StoreQuarantinedException.class)
				.until(() -> acquire(one, "a", first) instanceof Granted);
			assertThat(one.release("key", "a")).isTrue();
		}
		try (QuorumLockStore one = quorum(LEASE); QuorumLockStore other = quorum(LEASE)) {
			assertThat(acquire(one, "a", LEASE)).isInstanceOf(Granted.class);
			this.servers.subList(0, 2).forEach((server) -> {
				server.kill();
				server.restart();
			});
			Awaitility.await()
				.untilAsserted(() -> assertThatExceptionOfType(StoreQuarantinedException.class)
					.isThrownBy(() -> acquire(other, "b", LEASE)));
			assertThat(other.quarantine()).hasValueSatisfying((rest) -> assertThat(rest).isPositive());
		}
	}

}
