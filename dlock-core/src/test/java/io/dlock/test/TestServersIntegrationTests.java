package io.dlock.test;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Integration tests for {@link RedisServer}, {@link PostgresServer} and
 * {@link MariaDbServer}.
 */
@Timeout(120)
class TestServersIntegrationTests {

	/** The timeout, in milliseconds, at a server that hangs. */
	private static final int IMPATIENT = 500;

	private static final int PATIENT = (int) Patience.COMMAND.toMillis();

	@Test
	void redisIsSharedAndSurvivesClose() throws IOException {
		RedisServer redis = RedisServer.shared();
		redis.close();
		assertThat(RedisServer.shared()).isSameAs(redis);
		assertThat(redis(redis, "PING")).isEqualTo("+PONG");
		assertThat(redis(redis, "INFO server")).contains("redis_version:6.2.");
	}

	@Test
	void redisHangsWhilePaused() throws IOException {
		try (RedisServer redis = RedisServer.start()) {
			redis.pause();
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> redis(redis, "PING", IMPATIENT));
			redis.resume();
			assertThat(redis(redis, "PING")).isEqualTo("+PONG");
		}
	}

	@Test
	void redisForgetsItsDataByDefault() throws IOException {
		try (RedisServer redis = RedisServer.start()) {
			assertThat(redis(redis, "SET key 1")).isEqualTo("+OK");
			redis.kill();
			assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> redis(redis, "PING"));
			redis.restart();
			assertThat(redis(redis, "EXISTS key")).isEqualTo(":0");
		}
	}

	@Test
	void redisKeepsItsDataWithAppendOnlyFile() throws IOException {
		try (RedisServer redis = RedisServer.start("--appendonly", "yes")) {
			assertThat(redis(redis, "SET key 1")).isEqualTo("+OK");
			redis.restart();
			assertThat(redis(redis, "EXISTS key")).isEqualTo(":1");
		}
	}

	/**
	 * A client connection that had the second port of a cluster node failed a build.
	 */
	@Test
	void bothPortsOfClusterNodeAreBelowThoseOfClients() {
		int highestBus = IntStream.range(0, 100).map((i) -> ServerProcess.reservePort() + 10_000).max().getAsInt();
		assertThat(highestBus).isLessThan(32_768);
	}

	@Test
	void portOfKilledServerStaysItsOwn() {
		try (RedisServer redis = RedisServer.start()) {
			redis.kill();
			assertThat(ServerProcess.reserve(redis.port())).isFalse();
			redis.restart();
		}
	}

	@Test
	void redisWithPasswordGetsReady() throws IOException {
		try (RedisServer redis = RedisServer.start("--requirepass", "secret")) {
			assertThat(redis(redis, "PING")).startsWith("-NOAUTH");
		}
	}

	@Test
	void redisThatCannotStartTellsWhy() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> RedisServer.start("--nonsense", "1"))
			.withMessageContaining("Bad directive");
	}

	@Test
	void pausedRedisCanBeClosed() {
		RedisServer redis = RedisServer.start();
		redis.pause();
		redis.close();
		redis.close();
		assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> redis(redis, "PING"));
	}

	@Test
	void postgresAnswers() throws SQLException {
		PostgresServer postgres = PostgresServer.shared();
		assertThat(query(postgres, "select 1")).isEqualTo("1");
		assertThat(query(postgres, "show server_version")).startsWith("18.4");
		assertThat(query(postgres, "show max_connections")).isEqualTo("200");
		assertThat(query(postgres, "show listen_addresses")).isEqualTo("127.0.0.1");
	}

	@Test
	void postgresStopsWithOpenConnections() throws SQLException {
		PostgresServer postgres = PostgresServer.start();
		try (Connection connection = DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(),
				postgres.password())) {
			assertThat(query(connection, "select 1")).isEqualTo("1");
			postgres.close();
			postgres.close();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> query(postgres, "select 1"));
		}
	}

	@Test
	void postgresHangsWhilePausedWithAllItsProcesses() throws SQLException {
		try (PostgresServer postgres = PostgresServer.start();
				Connection connection = DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(),
						postgres.password())) {
			connection.setNetworkTimeout(Runnable::run, IMPATIENT);
			postgres.pause();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> query(connection, "select 1"));
			postgres.resume();
			assertThat(query(postgres, "select 1")).isEqualTo("1");
		}
	}

	@Test
	void postgresKeepsItsDataWhenKilled() throws SQLException {
		try (PostgresServer postgres = PostgresServer.start()) {
			execute(postgres, "create sequence kept");
			assertThat(query(postgres, "select setval('kept', 7)")).isEqualTo("7");
			postgres.kill();
			assertThat(postgres.isAlive()).isFalse();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> query(postgres, "select 1"));
			postgres.restart();
			assertThat(query(postgres, "select last_value from kept")).isEqualTo("7");
		}
	}

	@Test
	void mariaDbKeepsItsDataWhenKilledAndHangsWhilePaused() throws SQLException {
		try (MariaDbServer mariaDb = MariaDbServer.start("--innodb-flush-log-at-trx-commit=1")) {
			mariaDb(mariaDb, "create or replace table kept as select 1 as n");
			mariaDb.kill();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> mariaDb(mariaDb, "select 1"));
			mariaDb.restart();
			assertThat(mariaDb(mariaDb, "select n from kept")).isEqualTo("1");
			mariaDb.pause();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> mariaDb(mariaDb, "select 1", IMPATIENT));
			mariaDb.resume();
			assertThat(mariaDb(mariaDb, "select 1")).isEqualTo("1");
		}
	}

	@Test
	void mariaDbAnswersBothDrivers() throws SQLException {
		MariaDbServer mariaDb = MariaDbServer.shared();
		for (String url : List.of(mariaDb.mariaDbUrl(), mariaDb.mysqlUrl())) {
			try (Connection connection = DriverManager.getConnection(url, mariaDb.username(), mariaDb.password())) {
				assertThat(query(connection, "select version()")).startsWith("11.4.");
				assertThat(query(connection, "select database()")).isEqualTo(mariaDb.database());
				assertThat(query(connection, "select @@character_set_database")).isEqualTo("utf8mb4");
				assertThat(query(connection, "select '\uD83D\uDD12'")).isEqualTo("\uD83D\uDD12");
				assertThat(query(connection, "select @@bind_address")).isEqualTo("127.0.0.1");
			}
		}
	}

	@Test
	void mariaDbStopsWithOpenConnections() throws SQLException {
		MariaDbServer mariaDb = MariaDbServer.start();
		try (Connection connection = DriverManager.getConnection(mariaDb.mysqlUrl(), mariaDb.username(),
				mariaDb.password())) {
			assertThat(query(connection, "select 1")).isEqualTo("1");
			mariaDb.close();
			mariaDb.close();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> query(connection, "select 1"));
		}
	}

	@Test
	void postgresTakesOneRoundTripForStatement() throws SQLException {
		PostgresServer postgres = PostgresServer.shared();
		try (TcpProxy proxy = TcpProxy.to(postgres.host(), postgres.port());
				Connection connection = DriverManager.getConnection(postgres.jdbcUrl(proxy.port()), postgres.username(),
						postgres.password());
				Statement statement = connection.createStatement()) {
			proxy.resetCounters();
			statement.execute("select 1");
			assertThat(proxy.roundTrips()).isEqualTo(1);
		}
	}

	@Test
	void mariaDbTakesOneRoundTripForStatement() throws SQLException {
		MariaDbServer mariaDb = MariaDbServer.shared();
		try (TcpProxy proxy = TcpProxy.to(mariaDb.host(), mariaDb.port())) {
			for (String url : List.of(mariaDb.mariaDbUrl(proxy.port()), mariaDb.mysqlUrl(proxy.port()))) {
				try (Connection connection = DriverManager.getConnection(url, mariaDb.username(), mariaDb.password());
						Statement statement = connection.createStatement()) {
					proxy.resetCounters();
					statement.execute("select 1");
					assertThat(proxy.roundTrips()).isEqualTo(1);
				}
			}
		}
	}

	private static String query(PostgresServer postgres, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(),
				postgres.password())) {
			return query(connection, sql);
		}
	}

	private static void execute(PostgresServer postgres, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(),
				postgres.password()); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static @Nullable String mariaDb(MariaDbServer mariaDb, String sql) throws SQLException {
		return mariaDb(mariaDb, sql, PATIENT);
	}

	private static @Nullable String mariaDb(MariaDbServer mariaDb, String sql, int timeout) throws SQLException {
		try (Connection connection = DriverManager.getConnection(
				mariaDb.mariaDbUrl() + "?connectTimeout=" + timeout + "&socketTimeout=" + timeout, mariaDb.username(),
				mariaDb.password()); Statement statement = connection.createStatement()) {
			if (!statement.execute(sql)) {
				return null;
			}
			statement.getResultSet().next();
			return statement.getResultSet().getString(1);
		}
	}

	private static String query(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
			assertThat(result.next()).isTrue();
			return result.getString(1);
		}
	}

	private static String redis(RedisServer redis, String command) throws IOException {
		return redis(redis, command, PATIENT);
	}

	private static String redis(RedisServer redis, String command, int timeout) throws IOException {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(redis.host(), redis.port()), PATIENT);
			socket.setSoTimeout(timeout);
			socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
			byte[] reply = new byte[8192];
			return new String(reply, 0, socket.getInputStream().read(reply), StandardCharsets.UTF_8).strip();
		}
	}

}
