package io.dlock.autoconfigure;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import reactor.core.publisher.Mono;
import redis.clients.jedis.DefaultRedisCredentials;

import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The password of the user of the locks changes while an application runs.
 */
@Timeout(240)
class RotatedRedisPasswordIntegrationTests {

	private static final String USER = "ACL SETUSER rotated on allkeys allchannels +@all ";

	private final RedisServer server = RedisServer.start();

	private volatile String password = "first";

	@AfterEach
	void stop() {
		this.server.close();
	}

	private void enter(String line) {
		LettuceConnectionFactory admin = LettuceFactories.create(this.server.host(), this.server.port());
		try (RedisConnection connection = admin.getConnection()) {
			String[] words = line.split(" ", 2);
			byte[][] arguments = new byte[words[1].split(" ").length][];
			for (int i = 0; i < arguments.length; i++) {
				arguments[i] = words[1].split(" ")[i].getBytes(StandardCharsets.UTF_8);
			}
			connection.execute(words[0], arguments);
		}
		finally {
			admin.destroy();
		}
	}

	private ApplicationContextRunner application(String client) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DlockAutoConfiguration.class,
					DlockRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.host=" + this.server.host(),
					"spring.data.redis.port=" + this.server.port(), "spring.data.redis.client-type=" + client,
					"spring.data.redis.username=rotated", "dlock.lease=40s", "dlock.command-timeout=4s",
					"dlock.startup-timeout=1m");
	}

	private RedisCredentialsProviderFactory provider() {
		return new RedisCredentialsProviderFactory() {

			@Override
			public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
				return () -> Mono.fromSupplier(
						() -> RedisCredentials.just("rotated", RotatedRedisPasswordIntegrationTests.this.password));
			}

		};
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void credentialsProviderOfTheApplicationIsAsked(String client) {
		enter(USER + ">first");
		application(client)
			.withBean(LettuceClientConfigurationBuilderCustomizer.class,
					() -> (builder) -> builder.redisCredentialsProviderFactory(provider()))
			.withBean(JedisClientConfigurationBuilderCustomizer.class,
					() -> (builder) -> builder.customizeClientConfig((config) -> config
						.credentialsProvider(() -> new DefaultRedisCredentials("rotated", this.password))))
			.run((context) -> {
				LockRegistry registry = context.getBean(LockRegistry.class);
				LockHandle held = registry.acquire("held");
				enter(USER + "resetpass >second");
				this.password = "second";
				// Lettuce does not expect a number
				var unused = catchThrowable(() -> enter("CLIENT KILL USER rotated"));
				Awaitility.await().ignoreException(LockException.class).untilAsserted(() -> {
					registry.acquire("next").release();
					held.renewNow();
				});
				assertThat(held.isValid()).isTrue();
				held.release();
			});
	}

	/**
	 * The server has both passwords until all instances have the new one.
	 */
	@Test
	void instancesWithTheOldAndTheNewPasswordExcludeEachOther() {
		enter(USER + ">first >second");
		application("lettuce").withPropertyValues("spring.data.redis.password=first").run((old) -> {
			LockHandle held = old.getBean(LockRegistry.class).acquire("held");
			application("jedis").withPropertyValues("spring.data.redis.password=second").run((next) -> {
				LockRegistry registry = next.getBean(LockRegistry.class);
				assertThat(registry.find("held")).isPresent();
				enter(USER + "<first");
				held.release();
				registry.acquire("held").release();
			});
		});
	}

}
