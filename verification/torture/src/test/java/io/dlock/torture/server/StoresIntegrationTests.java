package io.dlock.torture.server;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Integration tests for the stores under test.
 */
@Timeout(120)
class StoresIntegrationTests {

	private static final StoreUnderTest.Mode DURABLE = new StoreUnderTest.Mode(true, Map.of());

	private static final StoreUnderTest.Mode FORGETFUL = new StoreUnderTest.Mode(false, Map.of());

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
	void pausedRedisDoesNotAnswer() throws IOException {
		try (RedisUnderTest store = (RedisUnderTest) StoreUnderTest.start(StoreType.REDIS, DURABLE);
				RedisAdmin impatient = new RedisAdmin("127.0.0.1", store.nodes().get(0).port(),
						Duration.ofMillis(300))) {
			store.nodes().get(0).pause();
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> impatient.call("PING"));
			store.nodes().get(0).resume();
			assertThat(impatient.text("PING")).isEqualTo("PONG");
			assertThatExceptionOfType(RedisAdmin.RedisErrorException.class)
				.isThrownBy(() -> impatient.call("NONSENSE"));
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

	private static void survivesDeath(SqlStore store, String later) throws Exception {
		assertThat(store.figures())
			.isEqualTo(Map.of("rows", 0L, "locks", 0L, "connections", 0L, "connections-in-use", 0L));
		store.execute("INSERT INTO dlock_lock VALUES ('k', 'o', 1, " + later + ", " + later + ", 0, 'h', 'r', '')");
		store.nodes().get(0).kill();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(store::figures);
		store.nodes().get(0).restart();
		assertThat(store.figures()).containsEntry("rows", 1L).containsEntry("locks", 1L);
	}

}
