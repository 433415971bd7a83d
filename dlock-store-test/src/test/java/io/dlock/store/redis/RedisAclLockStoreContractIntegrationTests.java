package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.dlock.test.DocsPage;

/**
 * R54: the contract as a Redis user that may do what {@code docs/operations.md} says and
 * nothing else.
 */
class RedisAclLockStoreContractIntegrationTests extends LettuceLockStoreContractIntegrationTests {

	private static final List<String> LINES = DocsPage.of("operations.md").lines("ACL SETUSER dlock ");

	@Override
	RedisConnectionFactory createConnectionFactory(RedisStandaloneConfiguration server) {
		onServer((connection) -> {
			enter(connection, LINES.get(0));
			enter(connection, LINES.get(2));
		});
		server.setUsername("dlock");
		server.setPassword("secret");
		return super.createConnectionFactory(server);
	}

	private static void enter(RedisConnection connection, String line) {
		byte[][] words = Arrays.stream(line.replace(">SECRET", ">secret").split(" "))
			.map((word) -> word.getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new);
		connection.execute(new String(words[0], StandardCharsets.UTF_8), Arrays.copyOfRange(words, 1, words.length));
	}

}
