package io.dlock.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.DocsPage;
import io.dlock.test.LettuceFactories;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Patience;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;
import io.dlock.test.Repository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The commands of {@code docs/incidents.md} that ask the store. The sample runs the
 * others.
 */
class IncidentsPageIntegrationTests {

	private static final DocsPage PAGE = DocsPage.of("incidents.md");

	private static final Pattern BLOCK = Pattern.compile("^```\\w*\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

	/** The commands that tests run, here and in the sample. */
	private static final List<String> COMMANDS = List.of("SELECT ", "redis-cli ", "curl -s ", "grep ", "jstack ",
			"sum by ", "max by ", "topk(");

	private static final Duration LEASE = Duration.ofMinutes(5);

	private final String part = UUID.randomUUID().toString();

	@Test
	void eachCommandIsRun() {
		List<String> lines = BLOCK.matcher(Repository.read(Path.of("docs/incidents.md")))
			.results()
			.flatMap((block) -> block.group(1).lines())
			.toList();
		assertThat(lines).hasSizeGreaterThan(18).allMatch((line) -> COMMANDS.stream().anyMatch(line::startsWith));
		assertThat(PAGE.lines("SELECT ")).hasSize(2);
		assertThat(PAGE.lines("redis-cli ")).hasSize(3);
	}

	@Test
	void h2() throws SQLException {
		database("jdbc:h2:mem:" + this.part + ";DB_CLOSE_DELAY=-1", "sa", "", "h2", 0, "SET TIME ZONE '%s'");
	}

	@Test
	void postgreSql() throws SQLException {
		PostgresServer server = PostgresServer.shared();
		database(server.jdbcUrl(), server.username(), server.password(), "postgresql", 0, "SET TIME ZONE '%s'");
	}

	@Test
	void mariaDb() throws SQLException {
		MariaDbServer server = MariaDbServer.shared();
		database(server.mariaDbUrl(), server.username(), server.password(), "mysql", 1, "SET time_zone = '%s'");
	}

	/**
	 * Look at locks of all states, from sessions in zones to the west and east.
	 */
	private void database(String url, String username, String password, String schema, int line, String zone)
			throws SQLException {
		try (HikariDataSource pool = new HikariDataSource();
				Connection connection = DriverManager.getConnection(url, username, password);
				Statement statement = connection.createStatement()) {
			pool.setJdbcUrl(url);
			pool.setUsername(username);
			pool.setPassword(password);
			new ResourceDatabasePopulator(new ClassPathResource("schema-" + schema + ".sql", JdbcLockStore.class))
				.execute(pool);
			try (LockStore store = Patience.connected(
					new JdbcLockStore(pool, JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND)))) {
				fill(store);
				for (String hours : new String[] { "-09:00", "+09:00" }) {
					statement.execute(zone.formatted(hours));
					Map<String, String> locks = locks(statement,
							PAGE.lines("SELECT ").get(line).replace("book", this.part).replace(";", ""));
					assertThat(locks).containsOnlyKeys(key("held"), key("shared"), key("kept"));
					assertThat(locks.get(key("held"))).startsWith("x here [main] count ");
					assertThat(locks.get(key("shared"))).startsWith("+ ").contains("there");
					assertThat(locks.get(key("kept"))).startsWith("~");
				}
			}
		}
	}

	private static Map<String, String> locks(Statement statement, String query) throws SQLException {
		Map<String, String> locks = new TreeMap<>();
		try (ResultSet rows = statement.executeQuery(query)) {
			while (rows.next()) {
				assertThat(rows.getTimestamp("lease_until")).isAfter(rows.getTimestamp("acquired_at"));
				assertThat(rows.getLong("token")).isPositive();
				locks.put(rows.getString("lock_key"), "%s %s %s %s".formatted(rows.getString("owner"),
						rows.getString("holder"), rows.getString("reason"), rows.getString("members")));
			}
		}
		return locks;
	}

	private String key(String state) {
		return "stock:" + this.part + ":" + state;
	}

	private void fill(LockStore store) {
		acquire(store, "held", "x", 1);
		acquire(store, "shared", "+a", AcquireCommand.UNLIMITED);
		acquire(store, "shared", "+b", AcquireCommand.UNLIMITED);
		acquire(store, "kept", "x", 1);
		assertThat(store.keep(key("kept"), "x", LEASE)).isTrue();
		acquire(store, "free", "x", 1);
		assertThat(store.release(key("free"), "x")).isTrue();
		acquire(store, "reserved", "x", 1);
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		store.acquire(new AcquireCommand(key("reserved"), "y", LEASE, "there [main]", "", address, true, null));
		assertThat(store.release(key("reserved"), "x")).isTrue();
		assertThat(store.acquire(new AcquireCommand(key("ended"), "x", Duration.ofMillis(1), "here [main]", "")))
			.isInstanceOf(AcquireResult.Granted.class);
		Awaitility.await().until(() -> store.find(key("ended")).isEmpty());
	}

	private void acquire(LockStore store, String state, String owner, int limit) {
		String holder = owner.equals("+b") ? "there [main]" : "here [main]";
		assertThat(
				store.acquire(new AcquireCommand(key(state), owner, LEASE, holder, "count", null, false, null, limit)))
			.isInstanceOf(AcquireResult.Granted.class);
	}

	@Test
	void redis() {
		RedisServer server = RedisServer.shared();
		LettuceConnectionFactory factory = LettuceFactories.create(server.host(), server.port());
		try (LockStore store = Patience.connected(
				new RedisLockStore(factory, RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND)));
				RedisConnection connection = factory.getConnection()) {
			fill(store);
			String pattern = argument("redis-cli --scan --pattern ").replace("book", this.part);
			Map<String, String> found = new TreeMap<>();
			for (String key : scan(connection, pattern)) {
				found.put(key.replaceAll(".*:", ""), key);
			}
			assertThat(found).containsKeys("held", "shared", "kept");
			String key = found.get("held");
			assertThat(argument("redis-cli HGETALL ")).isEqualTo(argument("redis-cli PTTL "));
			assertThat(argument("redis-cli HGETALL ").replaceAll("[{]b\\d+}", "").replace("book", this.part + ":held"))
				.isEqualTo(key.replaceAll("[{]b\\d+}", ""));
			byte[] held = key.getBytes();
			assertThat(fields(connection, held))
				.hasEntrySatisfying("owner", (owner) -> assertThat(owner).startsWith("x"))
				.containsEntry("holder", "here [main]")
				.containsEntry("reason", "count")
				.containsKey("token");
			assertThat(connection.keyCommands().pTtl(held)).isBetween(1L, LEASE.toMillis());
			assertThat(fields(connection, found.get("shared").getBytes())).containsEntry("owner", "+")
				.containsKeys("+a", "+b");
			assertThat(fields(connection, found.get("kept").getBytes()).get("owner")).startsWith("~");
		}
		finally {
			factory.destroy();
		}
	}

	private static String argument(String beginning) {
		return PAGE.lines(beginning).get(0).substring(beginning.length()).replace("'", "");
	}

	private static List<String> scan(RedisConnection connection, String pattern) {
		List<String> keys = new ArrayList<>();
		try (Cursor<byte[]> cursor = connection.keyCommands()
			.scan(ScanOptions.scanOptions().match(pattern).count(10_000).build())) {
			cursor.forEachRemaining((key) -> keys.add(new String(key)));
		}
		return keys;
	}

	private static Map<String, String> fields(RedisConnection connection, byte[] key) {
		Map<String, String> fields = new TreeMap<>();
		connection.hashCommands()
			.hGetAll(key)
			.forEach((name, value) -> fields.put(new String(name), new String(value)));
		return fields;
	}

}
