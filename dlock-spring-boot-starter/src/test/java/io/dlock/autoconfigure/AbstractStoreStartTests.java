package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.MariaDbServer;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that uses a store for the first time.
 */
abstract class AbstractStoreStartTests {

	private static final String USER = "start";

	private static final String PASSWORD = "secret";

	/**
	 * Long enough for a definite failure on a busy machine, and for a test that does not
	 * wait for its end.
	 */
	static final String LONG = "dlock.startup-timeout=5m";

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
						"spring.datasource.hikari.connection-timeout=500", "dlock.jdbc.initialize-schema=always");
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
			redis(server.port(),
					"ACL SETUSER scripts on >secret resetchannels ~dlock:* &dlock:mail:* -@all +eval +evalsha +ping +hello +auth +client|setname");
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

	static FailureAnalysis failure(ApplicationContextRunner application, String... properties) {
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

}
