package io.dlock.autoconfigure.actuate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;

/**
 * Auto-configuration of the health contributor {@code dlock}, which reports whether locks
 * can be taken. {@code management.health.dlock.enabled=false} turns it off.
 *
 * @since 0.1
 */
@AutoConfiguration(after = DlockAutoConfiguration.class)
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnSingleCandidate(LeaseLockRegistry.class)
@ConditionalOnEnabledHealthIndicator("dlock")
@EnableConfigurationProperties(DlockHealthProperties.class)
public final class DlockHealthAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = "dlockHealthIndicator")
	HealthIndicator dlockHealthIndicator(ObjectProvider<LeaseLockRegistry> registries,
			DlockHealthProperties properties) {
		LeaseLockRegistry registry = registries.getIfUnique();
		if (registry == null) {
			// a test has replaced it with a mock
			return () -> Health.unknown().withDetail("registry", "not one of dlock").build();
		}
		return new DlockHealthIndicator(registry.console(), registry.settings().commandTimeout(),
				properties.interval());
	}

}
