package io.dlock.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Started Lettuce connection factories with the defaults of an application. They share
 * their threads, because starting and stopping threads takes most of the time of a test.
 */
public final class LettuceFactories {

	private static final ClientResources RESOURCES = ClientResources.create();

	private LettuceFactories() {
	}

	/**
	 * Create a factory for a single server.
	 * @param host the host of the server
	 * @param port the port of the server
	 * @return a started factory
	 */
	public static LettuceConnectionFactory create(String host, int port) {
		return create(new RedisStandaloneConfiguration(host, port));
	}

	/**
	 * Create a factory for a server, a cluster or Sentinels.
	 * @param configuration the servers and the credentials
	 * @return a started factory
	 */
	public static LettuceConnectionFactory create(RedisConfiguration configuration) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder()
					.clientResources(RESOURCES)
					.shutdownQuietPeriod(Duration.ZERO)
					.shutdownTimeout(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	/**
	 * Send one command to a server.
	 * @param server the server and the credentials
	 * @param command the command
	 * @param arguments its arguments
	 * @return the answer as a text
	 */
	public static String call(RedisStandaloneConfiguration server, String command, String... arguments) {
		LettuceConnectionFactory factory = create(server);
		try (RedisConnection connection = factory.getConnection()) {
			Object answer = connection.execute(command,
					Arrays.stream(arguments)
						.map((argument) -> argument.getBytes(StandardCharsets.UTF_8))
						.toArray(byte[][]::new));
			return (answer instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8)
					: String.valueOf(answer);
		}
		finally {
			factory.destroy();
		}
	}

}
