package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockQuorumAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;
import io.dlock.test.TestCertificate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks on servers that take only TLS, with an SSL bundle of the application. Redis asks
 * for the certificate of the application as well.
 */
@Timeout(240)
class TlsIntegrationTests {

	private static final TestCertificate SERVER = TestCertificate.create("server");

	private static final TestCertificate APPLICATION = TestCertificate.create("application");

	/** From the port for the tests to the one with TLS. */
	private static final int TLS = 10_000;

	private static final List<RedisServer> SERVERS = Stream.generate(TlsIntegrationTests::redis).limit(3).toList();

	@AfterAll
	static void stop() {
		SERVERS.forEach(RedisServer::close);
	}

	private static RedisServer redis() {
		return RedisServer.start(Map.of(), (port) -> arguments(port + TLS));
	}

	private static List<String> arguments(int port, String... more) {
		List<String> arguments = new ArrayList<>(List.of("--requirepass", "secret"));
		tls(port).forEach((name, value) -> arguments.addAll(List.of("--" + name, value)));
		arguments.addAll(List.of(more));
		return arguments;
	}

	private static Map<String, String> tls(int port) {
		return Map.of("tls-port", Integer.toString(port), "tls-cert-file", SERVER.certificate().toString(),
				"tls-key-file", SERVER.key().toString(), "tls-ca-cert-file", APPLICATION.certificate().toString());
	}

	private static ApplicationContextRunner application(String... properties) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
					DataSourceAutoConfiguration.class, DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
					DlockRedisAutoConfiguration.class, DlockQuorumAutoConfiguration.class))
			.withPropertyValues("dlock.lease=40s", "dlock.wait-time=30s", "dlock.command-timeout=8s",
					"dlock.startup-timeout=5m",
					"spring.ssl.bundle.pem.store.truststore.certificate=" + SERVER.certificate().toUri(),
					"spring.ssl.bundle.pem.store.keystore.certificate=" + APPLICATION.certificate().toUri(),
					"spring.ssl.bundle.pem.store.keystore.private-key=" + APPLICATION.key().toUri())
			.withPropertyValues(properties);
	}

	private static ApplicationContextRunner onRedis(String client) {
		return onRedis(client, "spring.data.redis.host=127.0.0.1",
				"spring.data.redis.port=" + (SERVERS.get(0).port() + TLS));
	}

	private static ApplicationContextRunner onRedis(String client, String... nodes) {
		return application("dlock.backend=redis", "spring.data.redis.password=secret",
				"spring.data.redis.client-type=" + client, "spring.data.redis.ssl.enabled=true")
			.withPropertyValues(nodes);
	}

	private static ApplicationContextRunner onQuorum() {
		List<String> nodes = new ArrayList<>();
		SERVERS.forEach((server) -> nodes.add("rediss://:secret@127.0.0.1:" + (server.port() + TLS)));
		return application("dlock.backend=quorum", "dlock.quorum.longest-lease=0s",
				"dlock.quorum.nodes=" + String.join(",", nodes));
	}

	/**
	 * The second application waits for the first one.
	 */
	private static void exclude(ApplicationContextRunner application) {
		application.run((context) -> application.run((other) -> {
			assertThat(context).hasNotFailed();
			assertThat(other).hasNotFailed();
			LockRegistry registry = context.getBean(LockRegistry.class);
			LockHandle holder = registry.acquire("tls");
			assertThat(other.getBean(LockRegistry.class).tryAcquire("tls", Duration.ofMillis(200))).isEmpty();
			CompletableFuture<LockHandle> waiting = other.getBean(LockRegistry.class)
				.acquireAsync(LockRequest.of("tls"));
			assertThat(waiting).isNotDone();
			holder.release();
			assertThat(waiting).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void redisWithTheBundleOfTheApplication(String client) {
		exclude(onRedis(client).withPropertyValues("spring.data.redis.ssl.bundle=store"));
		FailureAnalysis failure = AbstractStoreStartTests.failure(onRedis(client));
		assertThat(failure.getAction()).contains("TLS", "spring.data.redis.ssl");
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void clusterWithTheBundleOfTheApplication(String client) {
		int port = RedisServer.reservePort();
		try (RedisServer node = RedisServer.start(Map.of(),
				(plain) -> arguments(port, "--cluster-enabled", "yes", "--tls-cluster", "yes"))) {
			call(node, "CLUSTER",
					Stream.concat(Stream.of("ADDSLOTS"), IntStream.range(0, 16_384).mapToObj(Integer::toString))
						.toArray(String[]::new));
			Awaitility.await()
				.untilAsserted(() -> assertThat(call(node, "CLUSTER", "INFO")).contains("cluster_state:ok"));
			exclude(onRedis(client, "spring.data.redis.cluster.nodes=127.0.0.1:" + port,
					"spring.data.redis.ssl.bundle=store"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void sentinelWithTheBundleOfTheApplication(String client) {
		int master = SERVERS.get(0).port() + TLS;
		try (RedisServer sentinel = RedisServer.startSentinel((port) -> {
			List<String> lines = new ArrayList<>();
			tls(port + TLS).forEach((name, value) -> lines.add(name + " " + value));
			lines.add("sentinel monitor primary 127.0.0.1 " + master + " 1");
			lines.add("sentinel auth-pass primary secret");
			return lines;
		})) {
			exclude(onRedis(client, "spring.data.redis.sentinel.master=primary",
					"spring.data.redis.sentinel.nodes=127.0.0.1:" + (sentinel.port() + TLS),
					"spring.data.redis.ssl.bundle=store"));
		}
	}

	private static String call(RedisServer server, String command, String... arguments) {
		RedisStandaloneConfiguration plain = new RedisStandaloneConfiguration(server.host(), server.port());
		plain.setPassword("secret");
		return LettuceFactories.call(plain, command, arguments);
	}

	@Test
	void quorumWithItsBundle() {
		exclude(onQuorum().withPropertyValues("dlock.quorum.ssl.bundle=store"));
		FailureAnalysis failure = AbstractStoreStartTests.failure(onQuorum());
		assertThat(failure.getAction()).contains("TLS", "dlock.quorum");
	}

	@Test
	void bundleThatIsUnknownFailsTheStart() {
		FailureAnalysis failure = AbstractStoreStartTests.failure(onQuorum(), "dlock.quorum.ssl.bundle=other");
		assertThat(failure.getDescription()).contains("dlock.quorum.ssl.bundle is 'other', which cannot be used");
	}

	@Test
	void allConnectionsToPostgreSqlHaveTls() {
		try (PostgresServer server = PostgresServer.start(List.of(SERVER.key()), "-c", "ssl=on", "-c",
				"ssl_cert_file=" + SERVER.certificate(), "-c", "ssl_key_file=" + SERVER.key())) {
			String url = "spring.datasource.url=" + server.jdbcUrl() + "?sslmode=verify-full&sslrootcert=";
			ApplicationContextRunner application = application("dlock.backend=jdbc",
					"dlock.jdbc.initialize-schema=always", "spring.datasource.username=" + server.username(),
					"spring.datasource.password=" + server.password(), "spring.datasource.hikari.maximum-pool-size=2",
					"spring.datasource.hikari.initialization-fail-timeout=-1");
			ApplicationContextRunner trusting = application.withPropertyValues(url + SERVER.certificate());
			exclude(trusting);
			trusting.run((context) -> {
				context.getBean(LockRegistry.class).acquire("seen").release();
				// the session that waited for the start of the server may not have ended
				// yet
				Awaitility.await()
					.untilAsserted(() -> assertThat(JdbcClient.create(context.getBean(DataSource.class))
						.sql("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE backend_type = 'client backend'")
						.query(Boolean.class)
						.list()).hasSizeGreaterThan(1).containsOnly(true));
			});
			FailureAnalysis failure = AbstractStoreStartTests.failure(application, url + APPLICATION.certificate());
			assertThat(failure.getAction()).contains("TLS", "spring.datasource.url");
		}
	}

	/**
	 * Java refuses this protocol.
	 */
	@Test
	void quorumHasTheProtocolsOfItsBundle() {
		FailureAnalysis failure = AbstractStoreStartTests.failure(onQuorum(), "dlock.quorum.ssl.bundle=store",
				"spring.ssl.bundle.pem.store.options.enabled-protocols=TLSv1.1", "dlock.startup-timeout=0s");
		assertThat(failure.getDescription()).contains("No appropriate protocol");
	}

}
