package io.dlock.autoconfigure;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.DistributedLocked;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.autoconfigure.actuate.DlockHealthAutoConfiguration;
import io.dlock.autoconfigure.metrics.DlockMetricsAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockQuorumAutoConfiguration;
import io.dlock.store.quorum.QuorumLockStore;
import io.dlock.test.CapturedLog;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application with its locks on three servers that have a user, a password and several
 * databases.
 */
class QuorumStartIntegrationTests {

	private static final List<RedisServer> SERVERS = Stream
		.generate(() -> RedisServer.start("--user", "default", "off", "--user", "locks", "on", ">se:cret", "~*", "&*",
				"+@all"))
		.limit(3)
		.toList();

	private static final String DOWN = "redis://locks:se%3Acret@127.0.0.1:1/3";

	private static final String ALSO_DOWN = "redis://locks:se%3Acret@127.0.0.1:2/3";

	private final Set<Thread> before = threads();

	public static class Orders {

		@DistributedLocked(name = "orders")
		public String place() {
			return "placed";
		}

	}

	@AfterEach
	void restart() {
		SERVERS.stream().filter((server) -> !server.isAlive()).forEach(RedisServer::restart);
	}

	@AfterAll
	static void stop() {
		SERVERS.forEach(RedisServer::close);
	}

	private static String url(int server) {
		return "redis://locks:se%3Acret@127.0.0.1:" + SERVERS.get(server).port() + "/3";
	}

	private static String wrongPassword(int server) {
		return url(server).replace("se%3Acret", "hidden");
	}

	private static ApplicationContextRunner on(String... nodes) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockQuorumAutoConfiguration.class,
					DlockHealthAutoConfiguration.class, DlockMetricsAutoConfiguration.class,
					MetricsAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class,
					CompositeMeterRegistryAutoConfiguration.class))
			.withBean(Orders.class)
			.withPropertyValues("dlock.backend=quorum", "dlock.quorum.nodes=" + String.join(",", nodes),
					"dlock.quorum.longest-lease=0s", "dlock.lease=40s", "dlock.command-timeout=8s",
					"dlock.wait-time=1s", "dlock.startup-timeout=5m", "dlock.health.interval=0s");
	}

	private static Health health(ApplicationContext context) {
		return context.getBean("dlockHealthIndicator", HealthIndicator.class).health();
	}

	private static double answering(ApplicationContext context) {
		return context.getBean(MeterRegistry.class).get("dlock.quorum.nodes.answering").gauge().value();
	}

	@Test
	void lockedMethodWorksWhileAMajorityDoes() {
		on(url(0), url(1), url(2)).run((context) -> {
			assertThat(context).hasNotFailed();
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.place()).isEqualTo("placed");
			assertThat(answering(context)).isEqualTo(3);
			SERVERS.get(0).kill();
			assertThat(orders.place()).isEqualTo("placed");
			SERVERS.get(1).kill();
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(orders::place)
				.withMessageContaining("1 of 3")
				.withMessageNotContaining("cret");
			assertThat(answering(context)).isEqualTo(1);
			SERVERS.get(1).restart();
			Awaitility.await()
				.ignoreException(LockStoreException.class)
				.untilAsserted(() -> assertThat(orders.place()).isEqualTo("placed"));
		});
	}

	@Test
	void locksAreInTheDatabaseOfTheUrl() {
		on(url(0), url(1), url(2)).run((context) -> {
			var unused = context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("database")).join();
			RedisStandaloneConfiguration administrator = new RedisStandaloneConfiguration("127.0.0.1",
					SERVERS.get(0).port());
			administrator.setUsername("locks");
			administrator.setPassword("se:cret");
			administrator.setDatabase(3);
			LettuceConnectionFactory factory = LettuceFactories.create(administrator);
			try (RedisConnection connection = factory.getConnection()) {
				assertThat(connection.serverCommands().dbSize()).isPositive();
			}
			finally {
				factory.destroy();
			}
		});
	}

	@ParameterizedTest
	@CsvSource({ "true, refused", "false, WRONGPASS" })
	void nodeThatDoesNotWorkAtTheStartIsAWarning(boolean down, String reason) {
		String node = down ? DOWN : wrongPassword(1);
		try (CapturedLog log = CapturedLog.of(QuorumLockStore.class)) {
			on(url(0), node, url(2)).run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(log.messages()).singleElement()
					.asString()
					.contains("127.0.0.1:" + (down ? 1 : SERVERS.get(1).port()))
					.containsIgnoringCase(reason)
					.doesNotContain("cret", "hidden");
				assertThat(context.getBean(Orders.class).place()).isEqualTo("placed");
				assertThat(answering(context)).isEqualTo(2);
			});
		}
	}

	@Test
	void healthIsUpWithAMajorityAndNamesTheNodesThatAreDown() {
		on(url(0), url(1), url(2)).run((context) -> {
			Health health = health(context);
			assertThat(health.getStatus()).as("%s", health).isEqualTo(Status.UP);
			assertThat(health.getDetails().get("server")).asString().startsWith("3 of 3 nodes answer (");
			SERVERS.get(0).kill();
			health = health(context);
			assertThat(health.getStatus()).as("%s", health).isEqualTo(Status.UP);
			assertThat(health.getDetails().get("server")).asString().startsWith("2 of 3 nodes answer");
			assertThat(health.getDetails().get("warnings")).asString()
				.contains("Does not answer: redis (Lettuce, 127.0.0.1:" + SERVERS.get(0).port() + ")");
			SERVERS.get(1).kill();
			health = health(context);
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails().get("server")).asString().startsWith("1 of 3 nodes answer");
			assertThat(health.getDetails().get("warnings")).asString()
				.contains("127.0.0.1:" + SERVERS.get(0).port(), "127.0.0.1:" + SERVERS.get(1).port());
			assertThat(health.toString()).doesNotContain("cret");
		});
	}

	/**
	 * The check waits for the node for half of a command timeout, and has the other half
	 * for the rest.
	 */
	@Test
	void healthIsUpWhileANodeHangs() {
		on(url(0), url(1), url(2)).run((context) -> {
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			SERVERS.get(0).pause();
			try {
				Health health = health(context);
				assertThat(health.getStatus()).as("%s", health).isEqualTo(Status.UP);
				assertThat(health.getDetails().get("warnings")).asString().contains("no answer in time");
			}
			finally {
				SERVERS.get(0).resume();
			}
		});
	}

	@Test
	void majorityThatIsDownFailsTheStart() {
		FailureAnalysis failure = AbstractStoreStartTests.failure(on(url(0), DOWN, ALSO_DOWN),
				"dlock.startup-timeout=1s");
		assertThat(failure.getDescription()).contains("1 of 3", "127.0.0.1:1", "127.0.0.1:2", "dlock retried for")
			.doesNotContain("cret");
		assertThat(failure.getAction()).contains("Start the store, or correct its address in dlock.quorum.nodes",
				"dlock.startup-check=false");
	}

	@Test
	void applicationMayStartWithoutItsMajority() {
		on(url(0), DOWN, ALSO_DOWN).withPropertyValues("dlock.startup-check=false").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(context.getBean(Orders.class)::place);
		});
	}

	@Test
	void wrongPasswordFailsTheStartAtOnce() {
		FailureAnalysis failure = AbstractStoreStartTests
			.failure(on(wrongPassword(0), wrongPassword(1), wrongPassword(2)));
		assertThat(failure.getDescription()).contains("WRONGPASS").doesNotContain("dlock retried for", "hidden");
		assertThat(failure.getAction()).contains("Correct the user and the password: dlock.quorum.nodes.");
	}

	@Test
	void nodesWithTlsAreNotAskedWithoutIt() {
		String[] tls = Stream.of(url(0), url(1), url(2))
			.map((url) -> url.replace("redis:", "rediss:"))
			.toArray(String[]::new);
		on(tls).withPropertyValues("dlock.command-timeout=1s", "dlock.startup-timeout=0s")
			.run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void twoNamesOfOneServerFailTheStart() {
		FailureAnalysis failure = AbstractStoreStartTests
			.failure(on(url(0), url(0).replace("127.0.0.1", "localhost"), url(2)));
		assertThat(failure.getDescription()).contains("Two nodes of the quorum are one server");
		assertThat(failure.getAction()).contains("independent");
	}

	@Test
	void neitherAStopNorAFailedStartLeavesAThread() {
		on(url(0), url(1), DOWN).run((context) -> assertThat(context.getBean(Orders.class).place()).isNotNull());
		on(url(0), DOWN, ALSO_DOWN).withPropertyValues("dlock.startup-timeout=0s")
			.run((context) -> assertThat(context).hasFailed());
		on(url(0), url(1), url(2), DOWN).run((context) -> assertThat(context).hasFailed());
		Awaitility.await().untilAsserted(() -> {
			Set<Thread> left = threads();
			left.removeAll(this.before);
			assertThat(left).isEmpty();
		});
	}

	private static Set<Thread> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> Stream.of("dlock-", "lettuce-").anyMatch(thread.getName()::startsWith))
			.collect(Collectors.toSet());
	}

}
