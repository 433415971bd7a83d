package io.dlock.autoconfigure.actuate.console;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointsSupplier;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpointDiscoverer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.autoconfigure.actuate.DlocksEndpoint;
import io.dlock.autoconfigure.actuate.DlocksEndpointAutoConfiguration;
import io.dlock.autoconfigure.actuate.DlocksEndpointProperties;
import io.dlock.engine.LeaseLockRegistry;

/**
 * Auto-configuration of the console, if it is enabled and the endpoint {@code dlocks} is
 * exposed.
 *
 * @since 0.1
 */
@AutoConfiguration(after = { DlocksEndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class })
@ConditionalOnClass({ WebEndpoint.class, ConditionalOnAvailableEndpoint.class })
@EnableConfigurationProperties(DlocksConsoleProperties.class)
@ConditionalOnBooleanProperty("dlock.console.enabled")
@ConditionalOnBean(DlocksEndpoint.class)
public final class DlocksConsoleAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	DlocksConsole dlocksConsole(ObjectProvider<LeaseLockRegistry> registries, DlocksEndpointProperties properties,
			ObjectProvider<HiddenKeys> hidden, ObjectProvider<EndpointAccessResolver> accessResolvers) {
		LeaseLockRegistry registry = registries.getIfUnique();
		ConsoleEvents events = new ConsoleEvents();
		if (registry != null) {
			registry.addListener(events);
		}
		return new DlocksConsole(registry, events, permitted(properties, accessResolvers.getIfAvailable()),
				hidden.getIfAvailable(HiddenKeys::new));
	}

	@Bean
	@Primary
	@ConditionalOnBean(WebEndpointDiscoverer.class)
	WebEndpointsSupplier dlocksConsoleLink(WebEndpointDiscoverer endpoints) {
		return new ConsoleLink(endpoints);
	}

	/**
	 * An endpoint that is read-only takes no lock away, whatever its own properties say.
	 */
	private static DlocksEndpointProperties permitted(DlocksEndpointProperties properties,
			@Nullable EndpointAccessResolver accessResolver) {
		if (accessResolver == null
				|| accessResolver.accessFor(EndpointId.of("dlocks"), Access.UNRESTRICTED) == Access.UNRESTRICTED) {
			return properties;
		}
		return new DlocksEndpointProperties(Show.NEVER, properties.forcedReleaseRoles(), properties.limit(),
				properties.showKeys(), properties.roles());
	}

}
