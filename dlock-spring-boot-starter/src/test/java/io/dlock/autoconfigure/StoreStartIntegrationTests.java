package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.dlock.LockRegistry;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.MariaDbServer;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * C5: the first use of a store, which may be late, down, or not for this application.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreStartIntegrationTests {

	private static final String USER = "start";

	private static final String PASSWORD = "secret";

	/**
	 * Long enough for a definite failure on a busy machine, and for a test that does not
	 * wait for its end.
	 */
	private static final String LONG = "dlock.start-timeout=5m";

	private static final String SHORT = "dlock.start-timeout=3s";

	/**
	 * A store, and a client of it.
	 */
	enum Store {

		LETTUCE, JEDIS, POSTGRESQL, MARIADB;

		boolean isRedis() {
			return this == LETTUCE || this == JEDIS;
		}

		int port() {
			return switch (this) {
				case LETTUCE, JEDIS -> Servers.REDIS.port();
				case POSTGRESQL -> PostgresServer.shared().port();
				case MARIADB -> MariaDbServer.shared().port();
			};
		}

		ApplicationContextRunner at(String host, int port) {
			ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
				.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class, DlockRedisAutoConfiguration.class));
			if (isRedis()) {
				return runner.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
					.withPropertyValues("spring.data.redis.host=" + host, "spring.data.redis.port=" + port,
							"dlock.command-timeout=5s", "spring.data.redis.username=" + USER,
							"spring.data.redis.password=" + PASSWORD,
							"spring.data.redis.client-type=" + name().toLowerCase(Locale.ROOT));
			}
			return runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
				.withPropertyValues("spring.datasource.url=" + url(host, port), "spring.datasource.username=" + user(),
						"spring.datasource.password=" + password(),
						// the pool of the application does not wait for the database
						"spring.datasource.hikari.initialization-fail-timeout=-1",
						"spring.datasource.hikari.connection-timeout=1000", "dlock.jdbc.initialize-schema=always");
		}

		String url(String host, int port) {
			return (this == POSTGRESQL) ? "jdbc:postgresql://" + host + ":" + port + "/postgres"
					: "jdbc:mariadb://" + host + ":" + port + "/dlock_test";
		}

		String user() {
			return (this == POSTGRESQL) ? PostgresServer.shared().username() : MariaDbServer.shared().username();
		}

		String password() {
			return (this == POSTGRESQL) ? PostgresServer.shared().password() : MariaDbServer.shared().password();
		}

	}

	private static final class Servers {

		static final RedisServer REDIS = start();

		private static RedisServer start() {
			RedisServer server = RedisServer.start();
			redis(server.port(),
					"ACL SETUSER start on >secret resetchannels ~dlock:* &dlock:mail:* -@all +eval +evalsha +hget +hmget "
							+ "+hset +set +del +pexpire +pttl +time +publish +subscribe +unsubscribe +ping +hello +auth +select "
							+ "+client|setname");
			redis(server.port(),
					"ACL SETUSER nothing on >secret resetchannels ~dlock:* &dlock:mail:* -@all +ping +hello +auth +client|setname");
			Runtime.getRuntime().addShutdownHook(new Thread(server::close));
			return server;
		}

		private static void redis(int port, String command) {
			try (Socket socket = new Socket("127.0.0.1", port)) {
				socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
				assertThat(new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII))
					.isEqualTo("+OK");
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

	private static FailureAnalysis failure(ApplicationContextRunner application, String... properties) {
		List<FailureAnalysis> found = new ArrayList<>();
		application.withPropertyValues(properties).run((context) -> {
			assertThat(context).hasFailed();
			for (Throwable cause = context.getStartupFailure(); cause != null; cause = cause.getCause()) {
				if (cause instanceof FailureAnalyzedException analyzed) {
					found.add(analyzed.analysis());
				}
			}
			if (found.isEmpty()) {
				throw new AssertionError("not analyzed", context.getStartupFailure());
			}
		});
		return found.get(0);
	}

	@ParameterizedTest
	@EnumSource
	void c5WorksWithAStoreThatIsUp(Store store) {
		store.at("127.0.0.1", store.port()).withPropertyValues(LONG).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(LockRegistry.class).acquire(UUID.randomUUID().toString()).release();
		});
	}

	@ParameterizedTest
	@EnumSource
	void c5RefusedConnection(Store store) {
		FailureAnalysis failure = failure(store.at("127.0.0.1", 1), SHORT);
		assertThat(failure.getDescription()).containsIgnoringCase("refused")
			.containsPattern("It was tried for \\d+ ms");
		assertThat(failure.getAction()).contains("Start the store", "dlock.start-timeout", "dlock.startup-check=false");
	}

	/**
	 * The table is created on a connection of that pool, and with a pool of no size the
	 * locks use it as well.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "dlock.jdbc.initialize-schema=always", "dlock.jdbc.pool-size=0" })
	void c5AttemptOnThePoolOfTheApplicationTakesItsConnectionTimeout(String property) {
		FailureAnalysis failure = failure(Store.POSTGRESQL.at("127.0.0.1", 1), "dlock.start-timeout=1s",
				"spring.datasource.hikari.connection-timeout=3000", "dlock.jdbc.initialize-schema=never", property);
		assertThat(failure.getDescription()).containsPattern("It was tried for ([3-9]|\\d\\d+)\\d{3} ms");
	}

	@ParameterizedTest
	@EnumSource
	void c5UnknownHost(Store store) {
		FailureAnalysis failure = failure(store.at("no-such-host.invalid", store.port()), SHORT);
		assertThat(failure.getDescription()).contains("no-such-host.invalid")
			.containsPattern("It was tried for \\d+ ms");
		assertThat(failure.getAction()).contains("Correct the host name");
	}

	@ParameterizedTest
	@EnumSource
	void c5WrongPassword(Store store) {
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG,
				(store.isRedis() ? "spring.data.redis" : "spring.datasource") + ".password=wrong");
		assertThat(failure.getDescription()).doesNotContain("It was tried for")
			.containsPattern("WRONGPASS|password|denied");
		assertThat(failure.getAction()).contains("Correct the user and the password");
	}

	@ParameterizedTest
	@EnumSource(names = { "LETTUCE", "JEDIS" })
	void c5NoPassword(Store store) {
		try (RedisServer server = RedisServer.start("--requirepass", "secret")) {
			FailureAnalysis failure = failure(store.at("127.0.0.1", server.port()), LONG, "spring.data.redis.username=",
					"spring.data.redis.password=");
			assertThat(failure.getAction()).contains("Correct the user and the password");
		}
	}

	@ParameterizedTest
	@EnumSource
	void c5UnknownDatabase(Store store) {
		String property = switch (store) {
			case LETTUCE, JEDIS -> "spring.data.redis.database=99";
			case POSTGRESQL -> "spring.datasource.url=jdbc:postgresql://127.0.0.1:" + store.port() + "/nothing";
			case MARIADB -> "spring.datasource.url=jdbc:mariadb://127.0.0.1:" + store.port() + "/nothing";
		};
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG, property);
		assertThat(failure.getDescription()).doesNotContain("It was tried for");
		assertThat(failure.getAction()).containsPattern("correct its name|its rights");
	}

	@ParameterizedTest
	@EnumSource(names = { "LETTUCE", "JEDIS" })
	void c5RedisUserWithoutRights(Store store) {
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG,
				"spring.data.redis.username=nothing");
		assertThat(failure.getDescription()).contains("NOPERM").doesNotContain("It was tried for");
		assertThat(failure.getAction()).contains("Grant the user of the locks its rights");
	}

	@Test
	void c5PostgreSqlWithoutTls() {
		Store store = Store.POSTGRESQL;
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG,
				"spring.datasource.url=" + store.url("127.0.0.1", store.port()) + "?sslmode=require");
		assertThat(failure.getDescription()).contains("does not support SSL").doesNotContain("It was tried for");
		assertThat(failure.getAction()).contains("TLS");
	}

	/**
	 * A server whose certificate the application does not trust.
	 */
	@ParameterizedTest
	@EnumSource(names = { "LETTUCE", "JEDIS" })
	void c5CertificateThatIsNotTrusted(Store store, @TempDir Path directory) throws Exception {
		try (ServerSocket server = tlsServer(directory)) {
			FailureAnalysis failure = failure(store.at("127.0.0.1", server.getLocalPort()), LONG,
					"spring.data.redis.ssl.enabled=true");
			assertThat(failure.getDescription()).doesNotContain("It was tried for");
			assertThat(failure.getAction()).contains("TLS", "spring.data.redis.ssl");
		}
	}

	private static ServerSocket tlsServer(Path directory) throws Exception {
		Path file = directory.resolve("keys.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "redis", "-dname", "CN=127.0.0.1", "-keyalg", "EC", "-storetype", "PKCS12",
				"-keystore", file.toString(), "-storepass", "secret")
			.inheritIO()
			.start();
		assertThat(keytool.waitFor()).isZero();
		KeyStore keys = KeyStore.getInstance(file.toFile(), "secret".toCharArray());
		KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
		factory.init(keys, "secret".toCharArray());
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(factory.getKeyManagers(), null, null);
		ServerSocket server = context.getServerSocketFactory()
			.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
		Thread thread = new Thread(() -> shakeHands(server), "tls-server");
		thread.setDaemon(true);
		thread.start();
		return server;
	}

	private static void shakeHands(ServerSocket server) {
		while (!server.isClosed()) {
			try (Socket socket = server.accept()) {
				((SSLSocket) socket).startHandshake();
			}
			catch (IOException ex) {
				// the client does not like the certificate
			}
		}
	}

	private static JdbcClient admin(Store store) {
		return JdbcClient.create((store == Store.POSTGRESQL)
				? new DriverManagerDataSource(PostgresServer.shared().jdbcUrl(), store.user(), store.password())
				: new DriverManagerDataSource(MariaDbServer.shared().mariaDbUrl(), store.user(), store.password()));
	}

	/**
	 * A user that may do nothing but log in.
	 */
	private static String newUser(Store store) {
		String user = "u" + UUID.randomUUID().toString().substring(0, 8);
		admin(store)
			.sql((store == Store.POSTGRESQL) ? "CREATE ROLE " + user + " LOGIN PASSWORD 'secret'"
					: "CREATE USER " + user + "@'%' IDENTIFIED BY 'secret'")
			.update();
		return user;
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void c10NoRightToCreateTheTable(Store store) {
		String user = newUser(store);
		String table = "t_" + user;
		if (store == Store.MARIADB) {
			admin(store).sql("GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_test.* TO " + user + "@'%'").update();
		}
		ApplicationContextRunner application = store.at("127.0.0.1", store.port())
			.withPropertyValues("spring.datasource.username=" + user, "spring.datasource.password=secret",
					"dlock.jdbc.table=" + table, LONG);
		FailureAnalysis failure = failure(application);
		assertThat(failure.getDescription()).contains("no right to create tables", "CREATE", "denied", table);
		String ddl = failure.getAction().substring(failure.getAction().indexOf("CREATE TABLE"));
		admin(store).sql(ddl.strip().replaceFirst(";$", "")).update();
		if (store == Store.POSTGRESQL) {
			assertThat(failure(application).getAction()).as("the table is there").contains("its rights");
		}
		admin(store)
			.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO " + user
					+ ((store == Store.MARIADB) ? "@'%'" : ""))
			.update();
		application.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@EnumSource
	void c5StoreThatStallsIsWaitedFor(Store store, CapturedOutput output) throws Exception {
		try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.port())) {
			proxy.blackHole(true);
			CompletableFuture<Void> started = CompletableFuture.runAsync(() -> store.at("127.0.0.1", proxy.port())
				.withPropertyValues(LONG, "dlock.command-timeout=1s")
				.run((context) -> assertThat(context).hasNotFailed()));
			Awaitility.await().until(() -> output.getOut().contains("is tried again for") || started.isDone());
			assertThat(started).isNotDone();
			proxy.heal();
			started.get();
		}
	}

}
