package io.dlock.autoconfigure.actuate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.engine.LeaseLockRegistry;

/**
 * Auto-configuration of the actuator endpoint {@code dlocks}, if it is exposed.
 *
 * @since 0.1
 */
@AutoConfiguration(after = DlockAutoConfiguration.class)
@ConditionalOnClass({ WebEndpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnAvailableEndpoint(DlocksEndpoint.class)
@ConditionalOnSingleCandidate(LeaseLockRegistry.class)
@EnableConfigurationProperties(DlocksEndpointProperties.class)
public final class DlocksEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DlocksEndpoint dlocksEndpoint(ObjectProvider<LeaseLockRegistry> registries, DlocksEndpointProperties properties,
			ObjectProvider<HiddenKeys> hidden, ApplicationEventPublisher publisher) {
		return new DlocksEndpoint(registries.getIfUnique(), properties, hidden.getIfAvailable(HiddenKeys::new),
				new ForcedReleaseAudit(publisher));
	}

}
