package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.Quarantine;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.CapturedLog;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The start on a Redis Cluster, each master of which has a user and settings of its own.
 */
class RedisClusterStartIntegrationTests extends AbstractRedisClusterTests {

	private void verify(RedisLockStoreSettings settings) {
		RedisServer first = this.nodes.get(0);
		LettuceConnectionFactory factory = LettuceFactories
			.create(new RedisClusterConfiguration(List.of(first.host() + ":" + first.port())));
		try (RedisLockStore store = new RedisLockStore(factory, settings)) {
			store.verify();
		}
		finally {
			factory.destroy();
		}
	}

	private static RedisLockStoreSettings withQuarantine() {
		return AbstractRedisStoreTests.patient()
			.withQuarantine(new Quarantine(Duration.ofMinutes(10), Duration.ofSeconds(12)));
	}

	private static RedisLockStoreSettings withAcknowledgement() {
		return AbstractRedisStoreTests.patient()
			.withAcknowledgement(RedisAcknowledgement.byReplicas(1, Duration.ofMillis(1)));
	}

	private void forbid(int node, String right) {
		RedisClusterIntegrationTests.call(this.nodes.get(node), "ACL", "SETUSER", "default", "-" + right);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void eachMasterMustLetTheLocksWait(int node) {
		forbid(node, "wait");
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(() -> verify(withAcknowledgement()))
			.withMessageContaining("+wait");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void eachMasterMustTellItsHistory(int node) {
		forbid(node, "info");
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(() -> verify(withQuarantine()))
			.withMessageContaining("+info");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void lagOfEachMasterIsCompared(int node) {
		RedisServer master = this.nodes.get(node);
		RedisClusterIntegrationTests.call(master, "CONFIG", "SET", "min-replicas-max-lag", "11");
		RedisClusterIntegrationTests.call(master, "CONFIG", "SET", "min-replicas-to-write", "1");
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(() -> verify(withQuarantine()))
			.withMessageContaining("min-replicas-max-lag of Redis is 11");
	}

	@Test
	void masterThatDoesNotTellItsLagIsNoReasonToTrustTheOthers() {
		forbid(0, "config");
		RedisServer master = this.nodes.get(2);
		RedisClusterIntegrationTests.call(master, "CONFIG", "SET", "min-replicas-max-lag", "11");
		RedisClusterIntegrationTests.call(master, "CONFIG", "SET", "min-replicas-to-write", "1");
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(() -> verify(withQuarantine()))
			.withMessageContaining("min-replicas-max-lag of Redis is 11");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 2 })
	void eachMasterMustAllowTheLocks(int node) {
		forbid(node, "pexpire");
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> verify(AbstractRedisStoreTests.patient()))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
	}

	@Test
	void masterThatIsDownIsAWarning() {
		this.nodes.get(2).kill();
		try (CapturedLog log = CapturedLog.of(RedisLockStore.class)) {
			verify(withQuarantine());
			assertThat(log.messages()).singleElement()
				.asString()
				.startsWith(
						"Node " + this.nodes.get(2).host() + ":" + this.nodes.get(2).port() + " of the Redis Cluster");
		}
	}

}
