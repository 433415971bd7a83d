package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.Objects;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

class LettuceConnectionsIntegrationTests {

	/**
	 * Threads that waited for answers of the former connection may wake up late.
	 */
	@Test
	void failuresOfABrokenConnectionDoNotReplaceTheNext() {
		RedisServer server = RedisServer.shared();
		LettuceConnectionFactory factory = LettuceFactories.create(server.host(), server.port());
		try (RedisConnections connections = Objects
			.requireNonNull(LettuceConnections.like(factory, Patience.COMMAND))) {
			LettuceScriptConnection connection = (LettuceScriptConnection) connections.open();
			for (int i = 0; i < 3; i++) {
				connections.failed(new RedisException("Connection disconnected"));
			}
			Awaitility.await().during(Duration.ofMillis(200)).until(connection::isOpen);
			for (int i = 0; i < 3; i++) {
				connections.failed(new RedisCommandTimeoutException("No answer"));
			}
			Awaitility.await().until(() -> !connection.isOpen());
		}
		finally {
			factory.destroy();
		}
	}

}
