package io.dlock.autoconfigure.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.autoconfigure.DlockProperties.Quorum;
import io.dlock.store.LockStore;
import io.dlock.store.quorum.QuorumLockStore;
import io.dlock.store.quorum.QuorumSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;

/**
 * Creates the store of a quorum. Nothing is connected before the first use.
 */
final class RedisQuorum {

	private RedisQuorum() {
	}

	static LockStore create(Quorum quorum, Duration commandTimeout, String prefix, @Nullable SslBundles sslBundles) {
		QuorumSettings settings = new QuorumSettings(commandTimeout, quorum.wrongClocks());
		RedisLockStoreSettings ofNode = new RedisLockStoreSettings(prefix, commandTimeout)
			.withQuarantine(quorum.quarantine());
		List<RedisUrl> urls = RedisUrl.parse(quorum.nodes());
		ClientOptions options = options(urls, quorum.ssl().bundle(), sslBundles);
		List<RedisLockStore> nodes = RedisLockStore.nodes(urls.stream().map((url) -> factory(url, options)).toList(),
				ofNode);
		try {
			return new QuorumLockStore(nodes, settings);
		}
		catch (RuntimeException ex) {
			nodes.forEach(RedisLockStore::close);
			throw ex;
		}
	}

	/**
	 * The same as Boot makes of spring.data.redis.ssl.bundle.
	 */
	private static ClientOptions options(List<RedisUrl> urls, @Nullable String name, @Nullable SslBundles sslBundles) {
		ClientOptions.Builder options = ClientOptions.builder();
		if (name == null) {
			return options.build();
		}
		if (urls.stream().noneMatch(RedisUrl::tls)) {
			throw new IllegalArgumentException("dlock.quorum.ssl.bundle is '" + name
					+ "', but no URL of dlock.quorum.nodes begins with rediss://, for TLS");
		}
		SslBundle bundle = bundle(name, sslBundles);
		SslOptions.Builder ssl = SslOptions.builder()
			.keyManager(bundle.getManagers().getKeyManagerFactory())
			.trustManager(bundle.getManagers().getTrustManagerFactory());
		if (bundle.getOptions().getCiphers() != null) {
			ssl.cipherSuites(bundle.getOptions().getCiphers());
		}
		if (bundle.getOptions().getEnabledProtocols() != null) {
			ssl.protocols(bundle.getOptions().getEnabledProtocols());
		}
		return options.sslOptions(ssl.build()).build();
	}

	private static SslBundle bundle(String name, @Nullable SslBundles sslBundles) {
		try {
			return Objects.requireNonNull(sslBundles, "There are no SSL bundles").getBundle(name);
		}
		catch (RuntimeException ex) {
			throw new IllegalArgumentException(
					"dlock.quorum.ssl.bundle is '" + name + "', which cannot be used: " + ex.getMessage(), ex);
		}
	}

	/**
	 * The factory is never started: the store makes connections of its own like it, and
	 * closes them.
	 */
	private static LettuceConnectionFactory factory(RedisUrl url, ClientOptions options) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(url.host(), url.port());
		server.setUsername(url.user());
		server.setPassword(url.password());
		server.setDatabase(url.database());
		LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder().clientOptions(options);
		return new LettuceConnectionFactory(server, url.tls() ? client.useSsl().build() : client.build());
	}

}
