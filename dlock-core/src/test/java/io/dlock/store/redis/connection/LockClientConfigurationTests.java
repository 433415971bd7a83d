package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The connections of the locks have the TLS and the credentials of the application.
 */
class LockClientConfigurationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	private final ClientResources resources = ClientResources.create();

	@AfterEach
	void shutDownResources() {
		this.resources.shutdown(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
	}

	private static JedisClientConfiguration copyOf(JedisClientConfiguration application) {
		return new JedisLockClientConfiguration(application, TIMEOUT, new AtomicBoolean());
	}

	private LettuceClientConfiguration copyOf(LettuceClientConfiguration application) {
		return LettuceLockClientConfiguration.like(application, this.resources, TIMEOUT);
	}

	@Test
	void jedisHasTheTlsOfTheApplication() {
		SSLSocketFactory sockets = (SSLSocketFactory) SSLSocketFactory.getDefault();
		SSLParameters parameters = new SSLParameters();
		HostnameVerifier verifier = (host, session) -> true;
		JedisClientConfiguration copy = copyOf(JedisClientConfiguration.builder()
			.useSsl()
			.sslSocketFactory(sockets)
			.sslParameters(parameters)
			.hostnameVerifier(verifier)
			.build());
		assertThat(copy.isUseSsl()).isTrue();
		assertThat(copy.getSslSocketFactory()).containsSame(sockets);
		assertThat(copy.getSslParameters()).containsSame(parameters);
		assertThat(copy.getHostnameVerifier()).containsSame(verifier);
	}

	@Test
	void jedisHasNoTlsWithoutThatOfTheApplication() {
		JedisClientConfiguration copy = copyOf(JedisClientConfiguration.defaultConfiguration());
		assertThat(copy.isUseSsl()).isFalse();
		assertThat(copy.getSslSocketFactory()).isEmpty();
	}

	@Test
	void lettuceHasTheTlsAndTheCredentialsOfTheApplication() {
		RedisCredentialsProviderFactory credentials = new RedisCredentialsProviderFactory() {
		};
		LettuceClientConfiguration copy = copyOf(LettuceClientConfiguration.builder()
			.redisCredentialsProviderFactory(credentials)
			.useSsl()
			.verifyPeer(SslVerifyMode.CA)
			.startTls()
			.build());
		assertThat(copy.getRedisCredentialsProviderFactory()).containsSame(credentials);
		assertThat(copy.isUseSsl()).isTrue();
		assertThat(copy.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
		assertThat(copy.isStartTls()).isTrue();
	}

	/**
	 * Lettuce resolves other credentials on the common pool, whose threads may all wait
	 * for locks.
	 */
	@Test
	void lettuceKnowsTheCredentialsAtOnce() {
		RedisCredentialsProviderFactory credentials = copyOf(LettuceClientConfiguration.defaultConfiguration())
			.getRedisCredentialsProviderFactory()
			.orElseThrow();
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration();
		assertThat(now(credentials.createCredentialsProvider(server)).hasPassword()).isFalse();
		server.setPassword("secret");
		assertThat(now(credentials.createCredentialsProvider(server)).hasUsername()).isFalse();
		server.setUsername("locks");
		RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration();
		sentinels.setSentinelUsername("locks");
		sentinels.setSentinelPassword("secret");
		for (RedisCredentialsProvider provider : List.of(credentials.createCredentialsProvider(server),
				credentials.createSentinelCredentialsProvider(sentinels))) {
			assertThat(now(provider).getUsername()).isEqualTo("locks");
			assertThat(now(provider).getPassword()).containsExactly("secret".toCharArray());
		}
	}

	private static RedisCredentials now(RedisCredentialsProvider provider) {
		assertThat(provider).isInstanceOf(ImmediateRedisCredentialsProvider.class);
		return ((ImmediateRedisCredentialsProvider) provider).resolveCredentialsNow();
	}

	@Test
	void lettuceHasNoTlsWithoutThatOfTheApplication() {
		LettuceClientConfiguration copy = copyOf(LettuceClientConfiguration.defaultConfiguration());
		assertThat(copy.isUseSsl()).isFalse();
		assertThat(copy.isStartTls()).isFalse();
		assertThat(copyOf(LettuceClientConfiguration.builder().useSsl().build()).isStartTls()).isFalse();
	}

	/**
	 * The application may wait for its own connections as long as it likes.
	 */
	@Test
	void jedisHasTheTimeoutsOfTheLocks() {
		Duration patient = Duration.ofHours(1);
		JedisClientConfiguration copy = copyOf(
				JedisClientConfiguration.builder().connectTimeout(patient).readTimeout(patient).build());
		assertThat(copy.getConnectTimeout()).isEqualTo(TIMEOUT);
		assertThat(copy.getReadTimeout()).isEqualTo(TIMEOUT);
	}

}
