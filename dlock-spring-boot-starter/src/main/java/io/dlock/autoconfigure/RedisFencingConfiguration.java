package io.dlock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.dlock.fencing.redis.FencedValues;

/**
 * Fenced values in the application's Redis, wherever the locks are.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
class RedisFencingConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	FencedValues dlockFencedValues(RedisConnectionFactory connectionFactory) {
		return new FencedValues(connectionFactory);
	}

}
