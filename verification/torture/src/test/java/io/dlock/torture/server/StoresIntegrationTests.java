package io.dlock.torture.server;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Integration tests for the stores under test.
 */
@Timeout(300)
class StoresIntegrationTests {

	static final StoreUnderTest.Mode DURABLE = new StoreUnderTest.Mode(true, Optional.empty(), Map.of());

	static final StoreUnderTest.Mode FORGETFUL = new StoreUnderTest.Mode(false, Optional.empty(), Map.of());

	@Test
	void durableRedisRemembersAndForgetfulRedisForgets() throws IOException {
		try (RedisUnderTest durable = (RedisUnderTest) StoreUnderTest.start(StoreType.REDIS, DURABLE);
				RedisUnderTest forgetful = (RedisUnderTest) StoreUnderTest.start(StoreType.REDIS, FORGETFUL)) {
			for (RedisUnderTest store : new RedisUnderTest[] { durable, forgetful }) {
				assertThat(store.processes().admin(0).text("SET", "{a}:lock:key with\r\n{}", "1")).isEqualTo("OK");
				assertThat(store.figures()).containsEntry("locks", 1L).containsEntry("connections", 0L);
				store.nodes().get(0).kill();
				assertThatExceptionOfType(IOException.class).isThrownBy(() -> store.processes().admin(0).call("PING"));
				store.nodes().get(0).restart();
			}
			assertThat(durable.figures()).containsEntry("locks", 1L);
			assertThat(forgetful.figures()).containsEntry("locks", 0L);
		}
	}

	@Test
	void lockThatIsLeftOnAllNodesOfAQuorumIsCounted() throws IOException {
		try (RedisQuorumStore store = RedisQuorumStore.start(FORGETFUL)) {
			assertThat(store.figures()).containsEntry("locks", 0L);
			for (int node = 0; node < store.nodes().size(); node++) {
				store.processes().admin(node).text("SET", "{a}:lock:key", "1");
			}
			assertThat(store.figures()).containsEntry("locks", 5L);
		}
	}

	@Test
	void pausedRedisDoesNotAnswer() throws IOException {
		try (RedisUnderTest store = (RedisUnderTest) StoreUnderTest.start(StoreType.REDIS, DURABLE);
				RedisAdmin impatient = new RedisAdmin("127.0.0.1", store.nodes().get(0).port(), Duration.ofMillis(300));
				RedisAdmin patient = new RedisAdmin("127.0.0.1", store.nodes().get(0).port(), Patience.COMMAND)) {
			store.nodes().get(0).pause();
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> impatient.call("PING"));
			store.nodes().get(0).resume();
			assertThat(patient.text("PING")).isEqualTo("PONG");
			assertThatExceptionOfType(RedisAdmin.RedisErrorException.class).isThrownBy(() -> patient.call("NONSENSE"));
		}
	}

	@Test
	void postgresKeepsCommitsAndKnowsItsClients() throws Exception {
		try (SqlStore store = (SqlStore) StoreUnderTest.start(StoreType.POSTGRES, DURABLE)) {
			survivesDeath(store, "now() + interval '1 hour'");
		}
	}

	@Test
	void mariaDbKeepsCommitsAndKnowsItsClients() throws Exception {
		try (SqlStore store = (SqlStore) StoreUnderTest.start(StoreType.MARIADB, DURABLE)) {
			survivesDeath(store, "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
		}
	}

	@Test
	void redisEndsOnFullDiskAndRemembersWhatItHasAcknowledged() throws IOException {
		try (RedisStore store = RedisStore.start(DURABLE)) {
			LimitedDisk disk = available(store);
			RedisAdmin admin = store.processes().admin(0);
			assertThat(admin.text("SET", "{a}:lock:before", "1")).isEqualTo("OK");
			disk.fill();
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> fillUp(admin));
			disk.free();
			store.nodes().get(0).restart();
			assertThat(admin.text("GET", "{a}:lock:before")).isEqualTo("1");
		}
	}

	private static void fillUp(RedisAdmin admin) throws IOException {
		for (int i = 0; i < 100; i++) {
			admin.text("SET", "{a}:lock:more", "x".repeat(1000));
		}
	}

	@Test
	void postgresEndsOnFullDiskAndRemembersWhatItHasCommitted() throws Exception {
		try (SqlStore store = SqlStore.startPostgres(DURABLE)) {
			LimitedDisk disk = available(store);
			store.execute("CREATE TABLE thing (name text)");
			store.execute("INSERT INTO thing VALUES ('before')");
			disk.fill();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> {
				for (int i = 0; i < 100; i++) {
					store.execute("INSERT INTO thing VALUES ('while full')");
					store.execute("SELECT pg_switch_wal()");
				}
			});
			disk.free();
			store.nodes().get(0).restart();
			assertThat(store.texts("SELECT name FROM thing")).contains("before");
			store.execute("INSERT INTO thing VALUES ('after')");
		}
	}

	private static LimitedDisk available(StoreUnderTest store) {
		assumeThat(store.disk()).as("only root may mount a disk").isPresent();
		return store.disk().orElseThrow();
	}

	@Test
	void promotedStandbyHasNothingOfWhatWasCommittedAfterTheCut() throws Exception {
		try (SqlStore store = SqlStore.startPostgres(FORGETFUL)) {
			PostgresPair pair = store.pair().orElseThrow();
			store.execute("CREATE TABLE thing (name text)");
			for (int i = 0; i < 2; i++) {
				int before = store.nodes().get(0).port();
				pair.cutReplication();
				store.execute("INSERT INTO thing VALUES ('tail')");
				store.nodes().get(0).kill();
				pair.promote();
				assertThat(store.nodes().get(0).port()).isNotEqualTo(before);
				store.execute("CREATE TABLE IF NOT EXISTS thing (name text)");
				assertThat(store.texts("SELECT name FROM thing")).doesNotContain("tail");
				pair.follow();
			}
		}
	}

	private static void survivesDeath(SqlStore store, String later) throws Exception {
		assertThat(store.figures())
			.isEqualTo(Map.of("rows", 0L, "locks", 0L, "connections", 0L, "connections-in-use", 0L));
		store.execute(
				"INSERT INTO dlock_lock (lock_key, owner, token, acquired_at, lease_until, renewals, holder, reason, waiting) "
						+ "VALUES ('k', 'o', 1, " + later + ", " + later + ", 0, 'h', 'r', '')");
		store.nodes().get(0).kill();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(store::figures);
		store.nodes().get(0).restart();
		assertThat(store.figures()).containsEntry("rows", 1L).containsEntry("locks", 1L);
	}

}
