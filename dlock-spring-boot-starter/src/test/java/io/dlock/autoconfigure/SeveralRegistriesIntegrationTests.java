package io.dlock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.RedisServer;

/**
 * The recipe with the other locks in Redis.
 */
class SeveralRegistriesIntegrationTests extends SeveralRegistriesTests {

	@Override
	ApplicationContextRunner withDefaultStore(ApplicationContextRunner withoutStore) {
		return withoutStore
			.withConfiguration(
					AutoConfigurations.of(DlockRedisAutoConfiguration.class, DataRedisAutoConfiguration.class))
			.withPropertyValues("dlock.backend=redis", "spring.data.redis.host=127.0.0.1",
					"spring.data.redis.port=" + RedisServer.shared().port());
	}

}
