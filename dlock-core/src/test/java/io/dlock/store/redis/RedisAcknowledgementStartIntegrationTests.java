package io.dlock.store.redis;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The start with acknowledged locks: a server, user or client that cannot acknowledge
 * fails it, missing replicas do not.
 */
@Timeout(240)
class RedisAcknowledgementStartIntegrationTests extends AbstractRedisAcknowledgementTests {

	@ParameterizedTest
	@EnumSource
	void startDoesNotNeedTheReplicas(Client client) {
		RedisLockStore store = store(client, RedisAcknowledgement.byReplicas(2, HURRIED.timeout()));
		store.verify();
		assertThat(unacknowledged(store, "a", "a")).hasMessageContaining("0 of 2 replicas");
		assertThat(store.inspection().diagnose().warnings())
			.anyMatch((warning) -> warning.startsWith("0 replicas are connected, but 2 have to acknowledge each lock"));
		replica();
		Awaitility.await()
			.untilAsserted(() -> assertThat(unacknowledged(store, "a", "a")).hasMessageContaining("1 of 2 replicas"));
		replica();
		Awaitility.await()
			.ignoreExceptionsInstanceOf(StoreException.class)
			.until(() -> store.acquire(command("a", "a")) instanceof Granted);
	}

	@ParameterizedTest
	@EnumSource
	void userWithoutTheRightFailsTheStart(Client client) {
		RedisLockStore store = store(client, BY_ONE);
		RedisClusterIntegrationTests.call(this.master, "ACL", "SETUSER", "default", "-wait");
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining("NOPERM")
			.withMessageContaining("+wait")
			.withMessageContaining("dlock.redis.acknowledge=none");
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> store.acquire(command("a", "a")))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
	}

	/**
	 * The first start with a quarantine is in one.
	 */
	@ParameterizedTest
	@EnumSource
	void userWithoutTheRightFailsTheStartInAQuarantine(Client client) {
		RedisClusterIntegrationTests.call(this.master, "ACL", "SETUSER", "default", "-wait");
		RedisLockStore store = store(new RedisStandaloneConfiguration(this.master.host(), this.master.port()), client,
				AbstractRedisStoreTests.patient()
					.withAcknowledgement(BY_ONE)
					.withQuarantine(new Quarantine(LEASE, Duration.ZERO)));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining("+wait");
		assertThat(store.quarantine()).hasValueSatisfying((rest) -> assertThat(rest).isPositive());
	}

	@ParameterizedTest
	@EnumSource
	void serverWithoutTheCommandFailsTheStart(Client client) {
		RedisServer old = opened(RedisServer.start("--rename-command", "WAIT", ""));
		RedisLockStore store = store(new RedisStandaloneConfiguration(old.host(), old.port()), client, Patience.COMMAND,
				BY_ONE);
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining("unknown command")
			.withMessageContaining("Use a server that has WAIT");
	}

	/**
	 * It has no log, and Redis 6.2 has no WAITAOF.
	 */
	@ParameterizedTest
	@EnumSource
	void serverThatCannotTellWhatItsDiskHasFailsTheStart(Client client) {
		RedisLockStore store = store(client, BY_DISK);
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining("does not run WAITAOF")
			.withMessageContaining("needs Redis 7.2 or Valkey, appendonly yes");
	}

	@Test
	void clientThatIsNotKnownFailsTheStart() {
		LettuceConnectionFactory lettuce = LettuceFactories.create(this.master.host(), this.master.port());
		try (RedisLockStore store = new RedisLockStore(new ApplicationConnectionsTests.UnknownFactory(lettuce),
				RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND).withAcknowledgement(BY_ONE))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("Use Lettuce or Jedis");
		}
		finally {
			lettuce.destroy();
		}
	}

}
