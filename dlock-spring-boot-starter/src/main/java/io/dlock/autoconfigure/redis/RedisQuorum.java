package io.dlock.autoconfigure.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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

	static LockStore create(Quorum quorum, Duration commandTimeout, String prefix) {
		QuorumSettings settings = new QuorumSettings(commandTimeout, quorum.wrongClocks());
		RedisLockStoreSettings ofNode = new RedisLockStoreSettings(prefix, commandTimeout, quorum.quarantine());
		List<RedisLockStore> nodes = new ArrayList<>();
		try {
			RedisUrl.parse(quorum.nodes()).forEach((url) -> nodes.add(new RedisLockStore(factory(url), ofNode)));
			return new QuorumLockStore(nodes, settings);
		}
		catch (RuntimeException ex) {
			nodes.forEach(RedisLockStore::close);
			throw ex;
		}
	}

	/**
	 * The factory is never started: the store makes connections of its own like it, and
	 * closes them.
	 */
	private static LettuceConnectionFactory factory(RedisUrl url) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(url.host(), url.port());
		server.setUsername(url.user());
		server.setPassword(url.password());
		server.setDatabase(url.database());
		LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder();
		return new LettuceConnectionFactory(server, url.tls() ? client.useSsl().build() : client.build());
	}

}
