package io.dlock.store.redis;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;

import io.dlock.store.Quarantine;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.redis.connection.RedisConnections;
import io.dlock.store.redis.connection.RedisConnectionsFactory;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The check at the start, on servers of any version, and the visits after a failover.
 */
class RedisQuarantineTests {

	private static void verify(String version, Duration maxLag) {
		verify(version, maxLag, 0);
	}

	private static void verify(String version, Duration maxLag, int replicas) {
		List<?> ids = List.of(0L, bytes("a run"), bytes(version), bytes(Integer.toString(replicas)));
		RedisScriptingCommands scripts = answering(RedisScriptingCommands.class, Map.of("evalSha", ids));
		RedisConnection connection = answering(RedisConnection.class, Map.of("scriptingCommands", scripts));
		RedisConnectionFactory factory = answering(RedisConnectionFactory.class, Map.of("getConnection", connection));
		try (RedisConnections connections = RedisConnectionsFactory.create(factory, Duration.ofSeconds(1))) {
			new RedisQuarantine(connections, "dlock", new Quarantine(Duration.ofSeconds(30), maxLag))
				.verify(RedisKeys.era("dlock", 0));
		}
	}

	private static byte[] bytes(String value) {
		return value.getBytes(StandardCharsets.UTF_8);
	}

	private static <T> T answering(Class<T> type, Map<String, ?> answers) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> answers.get(method.getName())));
	}

	@ParameterizedTest
	@ValueSource(strings = { "6.2.0", "6.2.6" })
	void lagIsRefusedOnAServerWhoseScriptsNeedNoReplicas(String version) {
		assertThatExceptionOfType(StoreMisconfiguredException.class)
			.isThrownBy(() -> verify(version, Duration.ofSeconds(12)))
			.withMessageContaining("Redis " + version)
			.withMessageContaining("6.2.7");
	}

	@Test
	void lagIsTakenFromRedis627On() {
		verify("6.2.7", Duration.ofSeconds(12));
		verify("6.2.16", Duration.ofSeconds(12));
		verify("7.0.0", Duration.ofSeconds(12));
	}

	@Test
	void serverWithoutLagMayBeOlder() {
		verify("6.2.6", Duration.ZERO);
	}

	/**
	 * A replica for backups is never promoted.
	 */
	@Test
	void serverWithoutLagMayHaveReplicas() {
		verify("7.0.0", Duration.ZERO, 1);
	}

	/**
	 * The answer of a bucket of a server that has failed over again.
	 */
	@Test
	void bucketsAreVisitedAfterEachFailover() throws InterruptedException {
		RedisConnections connections = mock(RedisConnections.class);
		BlockingQueue<Thread> visits = new LinkedBlockingQueue<>();
		given(connections.executeAll(any(), any())).willAnswer((call) -> {
			visits.add(Thread.currentThread());
			return Collections.nCopies(call.<List<?>>getArgument(1).size(), List.of(0L));
		});
		RedisQuarantine quarantine = new RedisQuarantine(connections, "dlock",
				new Quarantine(Duration.ofSeconds(30), Duration.ZERO));
		for (int failover = 0; failover < 2; failover++) {
			assertThatExceptionOfType(StoreQuarantinedException.class)
				.isThrownBy(() -> quarantine.check(List.of((long) RedisQuarantineScripts.QUARANTINED, 30_000L, 1L)));
			Thread visitor = visits.poll(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS);
			assertThat(visitor).as("visitor after failover " + failover).isNotNull();
			visitor.join();
			visits.clear();
		}
	}

}
