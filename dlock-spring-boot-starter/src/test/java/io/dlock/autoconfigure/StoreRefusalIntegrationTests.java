package io.dlock.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.UUID;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.dlock.test.MariaDbServer;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * C5, C10: the first use of a store that is not for this application, which no waiting
 * repairs.
 */
class StoreRefusalIntegrationTests extends AbstractStoreStartTests {

	@ParameterizedTest
	@EnumSource
	void c5WrongPassword(Store store) {
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG,
				(store.isRedis() ? "spring.data.redis" : "spring.datasource") + ".password=wrong");
		assertThat(failure.getDescription()).doesNotContain("dlock retried for")
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
	@EnumSource(names = { "LETTUCE", "JEDIS" })
	void acknowledgementThatTheServerRefuses(Store store) {
		try (RedisServer server = RedisServer.start("--rename-command", "WAIT", "")) {
			FailureAnalysis failure = failure(store.at("127.0.0.1", server.port()), LONG, "spring.data.redis.username=",
					"spring.data.redis.password=", "dlock.redis.acknowledge=replicas");
			assertThat(failure.getDescription()).contains("does not run WAIT").doesNotContain("dlock retried for");
			assertThat(failure.getAction()).contains("or set dlock.redis.acknowledge=none");
		}
	}

	@Test
	void synchronousCommitOfConnectionsOfTheApplication() {
		Store store = Store.POSTGRESQL;
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG, "dlock.jdbc.pool-size=0",
				"dlock.jdbc.synchronous-commit=remote-apply");
		assertThat(failure.getDescription()).contains("dlock.jdbc.synchronous-commit is for the locks' own connections")
			.doesNotContain("dlock retried for");
		assertThat(failure.getAction()).contains("dlock.jdbc.pool-size");
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
		assertThat(failure.getDescription()).doesNotContain("dlock retried for");
		assertThat(failure.getAction()).containsPattern("correct its name|the rights");
	}

	/**
	 * Redis says it in other words if the right is missing inside a script.
	 */
	@ParameterizedTest
	@CsvSource({ "LETTUCE, nothing", "JEDIS, nothing", "LETTUCE, scripts", "JEDIS, scripts" })
	void c5RedisUserWithoutRights(Store store, String user) {
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG,
				"spring.data.redis.username=" + user);
		assertThat(failure.getDescription()).doesNotContain("dlock retried for");
		assertThat(failure.getAction()).contains("Grant the user of the locks the rights");
	}

	@Test
	void c5PostgreSqlWithoutTls() {
		Store store = Store.POSTGRESQL;
		FailureAnalysis failure = failure(store.at("127.0.0.1", store.port()), LONG,
				"spring.datasource.url=" + store.url("127.0.0.1", store.port()) + "?sslmode=require");
		assertThat(failure.getDescription()).contains("does not support SSL").doesNotContain("dlock retried for");
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
			assertThat(failure.getDescription()).doesNotContain("dlock retried for");
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
			assertThat(failure(application).getAction()).as("the table is there").contains("the rights");
		}
		admin(store)
			.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO " + user
					+ ((store == Store.MARIADB) ? "@'%'" : ""))
			.update();
		application.run((context) -> assertThat(context).hasNotFailed());
	}

}
