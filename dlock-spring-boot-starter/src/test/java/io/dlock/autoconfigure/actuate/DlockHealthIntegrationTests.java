package io.dlock.autoconfigure.actuate;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.LettuceFactories;
import io.dlock.test.MachineWatch;
import io.dlock.test.RedisServer;
import io.dlock.test.TestDatabase;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The health of the locks on real servers.
 */
@Timeout(120)
class DlockHealthIntegrationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class, DlockRedisAutoConfiguration.class,
				DlockHealthAutoConfiguration.class));

	private ApplicationContextRunner on(RedisServer server) {
		return this.runner.withPropertyValues("dlock.backend=redis", "spring.data.redis.host=" + server.host(),
				"spring.data.redis.port=" + server.port(), "dlock.lease=4s", "dlock.command-timeout=1s",
				"dlock.startup-check=false", "dlock.health.interval=0s");
	}

	private static Health health(ApplicationContext context) {
		return context.getBean("dlockHealthIndicator", HealthIndicator.class).health();
	}

	@Test
	void r19EvictionPolicyIsAWarningAndNotAFailure() {
		try (RedisServer server = RedisServer.start("--maxmemory-policy", "allkeys-lru", "--appendonly", "yes")) {
			on(server).run((context) -> {
				// a connection or an answer may take longer
				Health health = Awaitility.await()
					.until(() -> health(context), (answer) -> answer.getStatus().equals(Status.UP)
							&& answer.getDetails().containsKey("warnings"));
				assertThat(health.getDetails()).as("%s", health)
					.containsEntry("role", "master")
					.containsKeys("server", "store", "took");
				assertThat(health.getDetails().get("warnings")).asString().contains("allkeys-lru", "noeviction");
			});
		}
	}

	@Test
	void r19ReadOnlyReplicaIsDown() {
		try (RedisServer master = RedisServer.start();
				RedisServer replica = RedisServer.start("--replicaof", master.host(),
						Integer.toString(master.port()))) {
			on(replica).run((context) -> Awaitility.await().untilAsserted(() -> {
				Health health = health(context);
				assertThat(health.getStatus()).isEqualTo(Status.DOWN);
				assertThat(health.getDetails().get("failure")).asString().contains("READONLY");
				assertThat(health.getDetails()).containsEntry("role", "replica");
			}));
		}
	}

	@Test
	void r19ServerThatStopsIsDownAndOneThatIsBackIsUp() {
		try (RedisServer server = RedisServer.start()) {
			on(server).run((context) -> {
				Awaitility.await().until(() -> health(context).getStatus().equals(Status.UP));
				server.kill();
				Awaitility.await().until(() -> health(context).getStatus().equals(Status.DOWN));
				server.restart();
				Awaitility.await().until(() -> health(context).getStatus().equals(Status.UP));
			});
		}
	}

	/**
	 * A command may take a second here.
	 */
	@Test
	@Timing
	void r19ServerThatHangsIsDownInTime() {
		try (RedisServer server = RedisServer.start(); MachineWatch machine = MachineWatch.start()) {
			on(server).run((context) -> {
				Awaitility.await().until(() -> health(context).getStatus().equals(Status.UP));
				server.pause();
				try {
					assertThat(machine.time(() -> assertThat(health(context).getStatus()).isEqualTo(Status.DOWN)))
						.isLessThan(Duration.ofSeconds(3));
				}
				finally {
					server.resume();
				}
			});
		}
	}

	/**
	 * The first use of a database begins a quarantine.
	 */
	@Test
	void r19DatabaseInQuarantineIsUpWithAWarning() {
		TestDatabase database = TestDatabase.postgreSql();
		this.runner
			.withPropertyValues("dlock.backend=jdbc", "spring.datasource.url=" + database.url(),
					"spring.datasource.username=" + database.username(),
					"spring.datasource.password=" + database.password(), "dlock.jdbc.initialize-schema=always",
					"dlock.command-timeout=5s", "dlock.failover.quarantine=lease", "dlock.failover.longest-lease=10m",
					"dlock.failover.max-lag=0s")
			.run((context) -> {
				Health health = health(context);
				assertThat(health.getStatus()).as("%s", health).isEqualTo(Status.UP);
				assertThat(health.getDetails().get("warnings")).asString().contains("grants no lock for another");
				assertThat(context.getBean(LeaseLockRegistry.class).counts().quarantine())
					.isGreaterThan(Duration.ofMinutes(9));
			});
	}

	/**
	 * The lock of the check is on the first node. Health is down for good if that node
	 * hangs, and up with a warning if another one does.
	 */
	@ParameterizedTest
	@CsvSource({ "lettuce, 0, false", "jedis, 0, false", "lettuce, 1, true", "jedis, 1, true" })
	void masterOfAClusterThatHangsLetsHealthNotFlap(String client, int hanging, boolean up) {
		Status expected = up ? Status.UP : Status.DOWN;
		List<RedisServer> nodes = Stream
			.generate(() -> RedisServer.start("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no",
					"--cluster-node-timeout", "60000"))
			.limit(2)
			.toList();
		try {
			form(nodes);
			on(nodes.get(1))
				.withPropertyValues(
						"spring.data.redis.cluster.nodes=127.0.0.1:" + nodes.get(0).port() + ",127.0.0.1:"
								+ nodes.get(1).port(),
						"spring.data.redis.client-type=" + client, "dlock.lease=12s",
						// the node that answers may be slow on a busy machine
						"dlock.command-timeout=" + (up ? "3s" : "1s"))
				.run((context) -> {
					Awaitility.await().until(() -> health(context).getStatus().equals(Status.UP));
					nodes.get(hanging).pause();
					Awaitility.await()
						.until(() -> health(context), (health) -> health.getStatus().equals(expected)
								&& String.valueOf(health.getDetails()).contains("answer"));
					for (int i = 0; i < (up ? 3 : 10); i++) {
						assertThat(health(context).getStatus()).as("check %d", i).isEqualTo(expected);
					}
				});
		}
		finally {
			nodes.forEach(RedisServer::close);
		}
	}

	private static void form(List<RedisServer> nodes) {
		CRC32 crc = new CRC32();
		crc.update("dlock/health-check".getBytes(StandardCharsets.US_ASCII));
		int slotOfTheCheck = ClusterSlotHashUtil.calculateSlot("b%03d".formatted(crc.getValue() % 1024));
		for (int i = 0; i < 2; i++) {
			boolean first = i == 0;
			Stream<String> slots = IntStream.range(0, 16384)
				.filter((slot) -> (slot == slotOfTheCheck) == first)
				.mapToObj(Integer::toString);
			call(nodes.get(i), Stream.concat(Stream.of("ADDSLOTS"), slots).toArray(String[]::new));
		}
		call(nodes.get(0), "MEET", nodes.get(1).host(), Integer.toString(nodes.get(1).port()));
		Awaitility.await()
			.untilAsserted(() -> assertThat(nodes).allSatisfy(
					(node) -> assertThat(call(node, "INFO")).contains("cluster_state:ok", "cluster_slots_ok:16384")));
	}

	private static String call(RedisServer server, String... arguments) {
		return LettuceFactories.call(new RedisStandaloneConfiguration(server.host(), server.port()), "CLUSTER",
				arguments);
	}

	@Test
	void r19Database() {
		this.runner
			.withPropertyValues("dlock.backend=jdbc", "spring.datasource.url=jdbc:h2:mem:health",
					"dlock.command-timeout=5s")
			.run((context) -> {
				Health health = health(context);
				assertThat(health.getStatus()).as("%s", health).isEqualTo(Status.UP);
				assertThat(health.getDetails().get("server")).asString().startsWith("H2 2.");
				assertThat(health.getDetails()).doesNotContainKey("warnings");
			});
	}

}
