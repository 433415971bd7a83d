package io.dlock.fencing;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.fencing.FencedWriterProcess.Place;
import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.fencing.redis.FencedValues;
import io.dlock.store.LockStore;
import io.dlock.test.JavaProcess;
import io.dlock.test.LettuceFactories;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that stood still for longer than its lease writes as if it held the lock: the
 * one thing that no lease can prevent, and a fence does.
 */
@Timeout(120)
class FencedProcessesIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(4);

	private final String key = "fenced/" + UUID.randomUUID();

	static List<String> places() {
		RedisServer redis = RedisServer.shared();
		PostgresServer postgres = PostgresServer.shared();
		MariaDbServer mariaDb = MariaDbServer.shared();
		return List.of("redis:" + redis.host() + ":" + redis.port(),
				database(postgres.jdbcUrl(), postgres.username(), postgres.password(), "postgresql"),
				database(mariaDb.mariaDbUrl(), mariaDb.username(), mariaDb.password(), "mysql"));
	}

	private static String database(String url, String username, String password, String platform) {
		try (HikariDataSource pool = Pools.create(url, username, password)) {
			Pools.createLockTable(pool, platform);
			new ResourceDatabasePopulator(new ClassPathResource("schema-" + platform + ".sql", FencingGuard.class))
				.execute(pool);
			JdbcClient.create(pool)
				.sql("CREATE TABLE IF NOT EXISTS fenced_value (id VARCHAR(100) PRIMARY KEY, content VARCHAR(100))")
				.update();
		}
		return url + " " + username + " " + password;
	}

	private static String read(String address, String key) {
		if (address.startsWith("redis:")) {
			String[] parts = address.split(":");
			LettuceConnectionFactory factory = LettuceFactories.create(parts[1], Integer.parseInt(parts[2]));
			try {
				return new FencedValues(factory).get(key).orElseThrow();
			}
			finally {
				factory.destroy();
			}
		}
		String[] parts = address.split(" ");
		try (HikariDataSource pool = Pools.create(parts[0], parts[1], parts[2])) {
			return JdbcClient.create(pool)
				.sql("SELECT content FROM fenced_value WHERE id = ?")
				.param(key)
				.query(String.class)
				.single();
		}
	}

	private void createRow(String address) {
		if (!address.startsWith("redis:")) {
			String[] parts = address.split(" ");
			try (HikariDataSource pool = Pools.create(parts[0], parts[1], parts[2])) {
				JdbcClient.create(pool)
					.sql("INSERT INTO fenced_value (id, content) VALUES (?, '')")
					.param(this.key)
					.update();
			}
		}
	}

	@ParameterizedTest
	@MethodSource("places")
	void p2WriteOfAProcessThatStoodStillIsRefusedAfterItsSuccessorWrote(String address) throws Exception {
		createRow(address);
		LockSettings settings = LockSettings.builder().lease(LEASE).commandTimeout(LEASE.dividedBy(4)).build();
		Place place = Place.at(address, this.key, settings.commandTimeout());
		try (LockStore store = place.store();
				LeaseLockRegistry registry = new LeaseLockRegistry(store, settings);
				JavaProcess paused = FencedWriterProcess.start(address, this.key, LEASE)) {
			long stale = Long.parseLong(paused.await("HELD"));
			paused.say("before the pause");
			paused.await("WRITTEN");
			assertThat(read(address, this.key)).isEqualTo("before the pause");
			paused.signal("STOP");
			paused.say("after the pause");
			LockRequest request = LockRequest.builder(this.key).waitTime(Duration.ofSeconds(60)).build();
			try (LockHandle successor = registry.acquire(request)) {
				place.write().accept("by the successor");
				paused.signal("CONT");
				assertThat(paused.await("STALE")).isEqualTo(stale + " " + successor.token());
				assertThat(read(address, this.key)).isEqualTo("by the successor");
				place.write().accept("by the successor again");
				successor.assertHeld();
			}
			paused.say("");
			assertThat(Long.parseLong(paused.await("LOST"))).isEqualTo(stale);
			assertThat(read(address, this.key)).isEqualTo("by the successor again");
		}
	}

}
