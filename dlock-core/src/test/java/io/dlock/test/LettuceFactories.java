package io.dlock.test;

import java.time.Duration;

import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.RedisConfiguration;
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

}
