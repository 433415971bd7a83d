package com.example.orders;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the demo: two instances oversell without the lock and do not with it. The output
 * of the demo is in {@code target/demo-*.log}.
 */
class DemoIntegrationTests {

	private static final String COMMAND = Path.of(System.getProperty("java.home"), "bin", "java")
			+ " -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 com.example.orders.OrdersApplication";

	private static final int TIMEOUT = 300;

	@Test
	void h2() throws Exception {
		run("h2", Map.of());
	}

	@Test
	void postgres() throws Exception {
		PostgresServer postgres = PostgresServer.shared();
		run("postgres", Map.of("SPRING_DATASOURCE_URL", postgres.jdbcUrl(), "SPRING_DATASOURCE_USERNAME",
				postgres.username(), "SPRING_DATASOURCE_PASSWORD", postgres.password()));
	}

	@Test
	void aspectJ() throws Exception {
		run("h2", Map.of("SPRING_PROFILES_ACTIVE", "aspectj", "JAVA_TOOL_OPTIONS",
				"-javaagent:" + System.getProperty("orders.test.aspectj-agent")));
	}

	/**
	 * Each instance connects again and again to a Redis that does not answer yet. When it
	 * does, the demo takes its course.
	 */
	@Test
	void c5RedisThatIsLate() throws Exception {
		RedisServer redis = RedisServer.shared();
		try (TcpProxy proxy = TcpProxy.to(redis.host(), redis.port())) {
			proxy.blackHole(true);
			CompletableFuture<Void> demo = CompletableFuture.supplyAsync(() -> {
				try {
					run("redis", Map.of("SPRING_DATA_REDIS_HOST", redis.host(), "SPRING_DATA_REDIS_PORT",
							Integer.toString(proxy.port()), "DLOCK_COMMANDTIMEOUT", "3s"));
					return null;
				}
				catch (IOException | InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			});
			Awaitility.await()
				.atMost(Duration.ofSeconds(TIMEOUT))
				.until(() -> proxy.openConnections() >= 6 || demo.isDone());
			assertThat(demo).isNotDone();
			proxy.heal();
			demo.get();
		}
	}

	private static void run(String backend, Map<String, String> addresses) throws IOException, InterruptedException {
		Path output = Path.of("target", "demo-" + backend + ".log");
		ProcessBuilder demo = new ProcessBuilder("./demo", backend).redirectErrorStream(true)
			.redirectOutput(output.toFile());
		demo.environment().putAll(environment(addresses));
		Process process = demo.start();
		try {
			boolean ended = process.waitFor(TIMEOUT, TimeUnit.SECONDS);
			assertThat(ended).as("ended in time%n%s", Files.readString(output)).isTrue();
			assertThat(process.exitValue()).as("exit code of the demo%n%s", Files.readString(output)).isZero();
		}
		finally {
			process.descendants().forEach(ProcessHandle::destroyForcibly);
			process.destroyForcibly();
		}
	}

	private static Map<String, String> environment(Map<String, String> addresses) throws IOException {
		Map<String, String> environment = new HashMap<>(addresses);
		environment.put("ORDERS_COMMAND", COMMAND);
		environment.putIfAbsent("DLOCK_COMMANDTIMEOUT", "5s");
		environment.put("START_TIMEOUT", "200");
		environment.put("ORDER_TIMEOUT", "70");
		environment.put("ORDERS_WAITTIME", "60s");
		environment.put("CLASSPATH", System.getProperty("java.class.path"));
		try (ServerSocket first = freePort(); ServerSocket second = freePort()) {
			environment.put("PORT_1", Integer.toString(first.getLocalPort()));
			environment.put("PORT_2", Integer.toString(second.getLocalPort()));
		}
		return environment;
	}

	private static ServerSocket freePort() throws IOException {
		return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
	}

}
