package io.dlock.engine;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore;
import io.dlock.test.DocsPage;
import io.dlock.test.LettuceFactories;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The commands for a stuck lock in {@code docs/endpoint.md}.
 */
@Timeout(120)
class StuckLockIntegrationTests {

	private static final DocsPage PAGE = DocsPage.of("endpoint.md");

	private static final Pattern SCRIPT = Pattern.compile("redis-cli EVAL \"([^\"]+)\" 1 .*");

	private static final Duration LEASE = Duration.ofSeconds(12);

	private final String key = "stuck:" + UUID.randomUUID();

	@Test
	void postgreSql() throws Exception {
		PostgresServer server = PostgresServer.shared();
		database(server.jdbcUrl(), server.username(), server.password(), "postgresql",
				"UPDATE dlock_lock SET lease_until = clock_timestamp()");
	}

	@Test
	void mariaDb() throws Exception {
		MariaDbServer server = MariaDbServer.shared();
		database(server.mariaDbUrl(), server.username(), server.password(), "mysql",
				"UPDATE dlock_lock SET lease_until = UTC_TIMESTAMP(6)");
	}

	@Test
	void h2() throws Exception {
		database("jdbc:h2:mem:stuck;DB_CLOSE_DELAY=-1", "sa", "sa", "h2",
				"UPDATE dlock_lock SET lease_until = CURRENT_TIMESTAMP(6)");
	}

	private void database(String url, String username, String password, String schema, String takeAway)
			throws Exception {
		try (HikariDataSource pool = Pools.create(url, username, password)) {
			Pools.createLockTable(pool, schema);
			JdbcClient jdbc = JdbcClient.create(pool);
			String who = line("SELECT lock_key, owner, holder");
			lockIsTakenAway(url + " " + username + " " + password, (token) -> {
				assertThat(jdbc.sql(who).query().singleRow())
					.hasEntrySatisfying("holder", (holder) -> assertThat(holder).asString().contains("stuck instance"))
					.containsEntry("reason", "a report");
				return jdbc.sql(line(takeAway).replaceAll("token = \\d+", "token = " + token)).update();
			});
		}
	}

	private String line(String beginning) {
		return PAGE.lines(beginning).get(0).replace("stock:book", this.key).replace(";", "");
	}

	@Test
	void redis() throws Exception {
		RedisServer server = RedisServer.shared();
		LettuceConnectionFactory factory = LettuceFactories.create(server.host(), server.port());
		Matcher script = SCRIPT.matcher(line("redis-cli EVAL"));
		assertThat(script.matches()).isTrue();
		try (RedisConnection connection = factory.getConnection()) {
			String pattern = line("redis-cli --scan").replaceAll(".*--pattern '(.*)'", "$1");
			lockIsTakenAway("redis:" + server.host() + ":" + server.port(), (token) -> {
				byte[] lock = connection.keyCommands()
					.scan(ScanOptions.scanOptions().match(pattern).count(10_000).build())
					.next();
				assertThat(connection.hashCommands().hGet(lock, "holder".getBytes())).asString()
					.contains("stuck instance");
				Long done = connection.scriptingCommands()
					.eval(script.group(1).getBytes(), ReturnType.INTEGER, 1, lock, Long.toString(token).getBytes());
				return (done != null) ? done.intValue() : -1;
			});
		}
		finally {
			factory.destroy();
		}
	}

	/**
	 * Take a lock away from a holder in the background.
	 * @param takeAway does it if the lock has this token, and says whether it had
	 */
	private void lockIsTakenAway(String address, ToIntFunction<Long> takeAway) throws Exception {
		LockSettings settings = LockSettings.builder().lease(LEASE).commandTimeout(Duration.ofSeconds(3)).build();
		LockRequest request = LockRequest.builder(this.key)
			.waitTime(Duration.ofSeconds(30))
			.reason("a report")
			.reentrant(false)
			.build();
		CompletableFuture<LockHandle> lost = new CompletableFuture<>();
		try (LockStore store = HolderProcess.store(address, settings.commandTimeout());
				LeaseLockRegistry stuck = new LeaseLockRegistry(store,
						settings.toBuilder().instance("stuck instance").build());
				LeaseLockRegistry other = new LeaseLockRegistry(store, settings)) {
			LockHandle handle = stuck.acquire(request);
			handle.onLost(lost::complete);
			long token = store.find(this.key).orElseThrow().token();
			assertThat(takeAway.applyAsInt(token - 1)).as("another token: the lock has changed hands").isZero();
			handle.assertHeld();
			assertThat(takeAway.applyAsInt(token)).isEqualTo(1);
			try (LockHandle successor = other.acquire(request)) {
				assertThat(successor.token()).isGreaterThan(handle.token());
				assertThat(lost).succeedsWithin(LEASE);
				assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
				successor.assertHeld();
			}
		}
	}

}
