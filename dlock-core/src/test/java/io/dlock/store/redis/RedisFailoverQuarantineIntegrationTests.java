package io.dlock.store.redis;

import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A failover, a restart or a loss of all data of a real server begins a quarantine.
 */
@Timeout(240)
class RedisFailoverQuarantineIntegrationTests extends AbstractRedisQuarantineTests {

	private final List<String> persistence = List.of("--save", "", "--appendonly", "yes", "--appendfsync", "always");

	private static void replicate(RedisServer replica, RedisServer master) {
		RedisClusterIntegrationTests.call(replica, "REPLICAOF", master.host(), Integer.toString(master.port()));
		Awaitility.await()
			.until(() -> RedisClusterIntegrationTests.call(replica, "INFO", "replication")
				.contains("master_link_status:up"));
	}

	private static void promote(RedisServer replica) {
		RedisClusterIntegrationTests.call(replica, "REPLICAOF", "NO", "ONE");
	}

	/**
	 * The replica takes over before the former master grants: the worst of all lags.
	 */
	@Test
	void promotedReplicaGrantsNoLockThatTheFormerMasterGranted() {
		start(LEASE);
		try (RedisServer replica = RedisServer.start()) {
			replicate(replica, this.server);
			LettuceConnectionFactory other = LettuceFactories.create(replica.host(), replica.port());
			try (RedisLockStore promoted = new RedisLockStore(other,
					AbstractRedisStoreTests.patient().withQuarantine(new Quarantine(LEASE, LAG)))) {
				assertThat(promoted.find("b")).as("nothing, and there is a connection now").isEmpty();
				grantedAtLast(this.store, "b", "before");
				assertThat(this.store.release("b", "before")).isTrue();
				grantedAtLast(this.store, "a", "known");
				assertThat(promoted.find("a")).as("on a connection from before the promotion").isPresent();
				assertThat(this.store.renew(List.of(new RenewCommand("a", "known", LEASE))))
					.containsExactly(RenewResult.RENEWED);
				promote(replica);
				assertThat(acquire(this.store, "b", "forgotten")).isInstanceOf(AcquireResult.Granted.class);
				long granted = System.nanoTime();
				quarantined(promoted, "b", "b");
				quarantined(promoted, "a", "known");
				assertThat(promoted
					.renew(List.of(new RenewCommand("a", "known", LEASE), new RenewCommand("b", "forgotten", LEASE))))
					.containsExactly(RenewResult.RENEWED, RenewResult.REFUSED);
				assertThat(promoted.release("a", "known")).isTrue();
				assertThat(promoted.acquireAll(List.of(new AcquireCommand("b", "b", LEASE, "holder", ""))))
					.singleElement()
					.isInstanceOfSatisfying(AcquireResult.Failed.class,
							(failed) -> assertThat(failed.failure()).isInstanceOf(StoreQuarantinedException.class));
				grantedAtLast(promoted, "b", "b");
				assertThat(System.nanoTime() - granted).isGreaterThan(LEASE.toNanos());
			}
			finally {
				other.destroy();
			}
		}
	}

	/**
	 * The run id is that of the note, and no process has asked the master in between.
	 */
	@Test
	void masterThatComesBackHasForgottenToo() {
		start(LEASE);
		try (RedisServer replica = RedisServer.start()) {
			replicate(replica, this.server);
			grantedAtLast(this.store, "a", "a");
			promote(replica);
			grantedAtLast(this.store, "b", "b");
			replicate(this.server, replica);
			promote(this.server);
			assertThat(this.store.find("b")).isEmpty();
			quarantined(this.store, "b", "c");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "nothing", "dump", "dump with a replication id", "log" })
	void restartedServerGrantsNoLock(String persistence) {
		start(LEASE, persistence.equals("log") ? this.persistence.toArray(String[]::new) : new String[0]);
		grantedAtLast(this.store, "a", "a");
		try (RedisServer replica = RedisServer.start()) {
			if (persistence.startsWith("dump")) {
				if (persistence.contains("replication")) {
					replicate(replica, this.server);
				}
				Awaitility.await()
					.ignoreExceptions()
					.until(() -> RedisClusterIntegrationTests.call(this.server, "SAVE").contains("OK"));
			}
			this.server.kill();
			this.server.restart();
			Awaitility.await().untilAsserted(() -> quarantined(this.store, "b", "b"));
			grantedAtLast(this.store, "b", "b");
		}
	}

	/**
	 * A master that is tested gets another replication id at a restart, too, so that a
	 * restart does not show whether the note has the run.
	 */
	@Test
	void noteNamesTheRunOfTheServer() {
		start(LEASE);
		grantedAtLast(this.store, "a", "a");
		String era = RedisClusterIntegrationTests.call(this.server, "EVAL",
				"return redis.call('HGET', redis.call('KEYS', '*:era')[1], 'era')", "0");
		assertThat(era).startsWith(RedisClusterIntegrationTests.call(this.server, "EVAL",
				"return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')", "0"));
	}

	@Test
	void serverThatWasEmptiedGrantsNoLock() {
		start(LEASE);
		grantedAtLast(this.store, "a", "a");
		RedisClusterIntegrationTests.call(this.server, "FLUSHALL");
		quarantined(this.store, "a", "b");
		grantedAtLast(this.store, "a", "b");
	}

	/**
	 * Redis gives its history another id when a replica asks for it the first time.
	 */
	@Test
	void firstReplicaBeginsAQuarantine() {
		start(LEASE);
		grantedAtLast(this.store, "a", "a");
		assertThat(this.store.release("a", "a")).isTrue();
		try (RedisServer replica = RedisServer.start()) {
			replicate(replica, this.server);
			quarantined(this.store, "a", "b");
		}
	}

}
