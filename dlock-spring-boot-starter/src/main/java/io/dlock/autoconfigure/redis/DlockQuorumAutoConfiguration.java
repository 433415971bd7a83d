package io.dlock.autoconfigure.redis;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockRegistry;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.DlockBackend;
import io.dlock.autoconfigure.DlockProperties;
import io.dlock.autoconfigure.LockStoreCandidate;
import io.dlock.store.LockStore;

/**
 * Auto-configuration of locks by the majority of several Redis servers. Their connections
 * are made from {@code dlock.quorum.nodes} only: a {@code RedisConnectionFactory} of the
 * application is not used.
 *
 * @since 0.1
 */
@AutoConfiguration(before = DlockAutoConfiguration.class)
@ConditionalOnClass(value = LettuceConnectionFactory.class, name = "io.lettuce.core.RedisClient")
@ConditionalOnProperty(name = "dlock.backend", havingValue = "quorum")
@EnableConfigurationProperties({ DlockProperties.class, DlockRedisProperties.class })
public final class DlockQuorumAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockRegistry.class)
	LockStoreCandidate<DlockProperties> quorumLockStoreCandidate(DlockProperties properties,
			DlockRedisProperties redisProperties, ObjectProvider<SslBundles> sslBundles) {
		return new LockStoreCandidate<>(DlockBackend.QUORUM, "dlock.quorum.nodes", DlockProperties.class,
				() -> properties, (source) -> create(source, redisProperties, sslBundles.getIfAvailable()));
	}

	private static LockStore create(DlockProperties properties, DlockRedisProperties redisProperties,
			@Nullable SslBundles sslBundles) {
		return RedisQuorum.create(properties.quorum(), properties.effectiveCommandTimeout(), redisProperties.prefix(),
				sslBundles);
	}

}
