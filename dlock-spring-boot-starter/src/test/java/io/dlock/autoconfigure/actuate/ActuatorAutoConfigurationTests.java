package io.dlock.autoconfigure.actuate;

import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.LockSettings;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When there are a health indicator and an endpoint.
 */
class ActuatorAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockHealthAutoConfiguration.class,
				DlocksEndpointAutoConfiguration.class))
		.withPropertyValues("dlock.backend=memory");

	@Test
	void healthIsThereAndTheEndpointIsNotExposedByDefault() {
		this.runner.run(
				(context) -> assertThat(context).hasBean("dlockHealthIndicator").doesNotHaveBean(DlocksEndpoint.class));
	}

	@Test
	void healthIsSwitchedOffLikeAnyOther() {
		this.runner.withPropertyValues("management.health.dlock.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean("dlockHealthIndicator"));
	}

	@Test
	void exposedEndpointExists() {
		this.runner.withPropertyValues("management.endpoints.web.exposure.include=dlocks")
			.run((context) -> assertThat(context).hasSingleBean(DlocksEndpoint.class));
	}

	@Test
	void endpointIsSwitchedOffLikeAnyOther() {
		this.runner
			.withPropertyValues("management.endpoints.web.exposure.include=*", "management.endpoint.dlocks.access=NONE")
			.run((context) -> assertThat(context).doesNotHaveBean(DlocksEndpoint.class));
	}

	@Test
	void locksNeedNoActuator() {
		this.runner.withClassLoader(new FilteredClassLoader(HealthIndicator.class, WebEndpoint.class))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LeaseLockRegistry.class));
	}

	@Test
	void registryOfTheApplicationIsShown() {
		try (LeaseLockRegistry own = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults())) {
			this.runner.withBean(LeaseLockRegistry.class, () -> own)
				.withPropertyValues("management.endpoints.web.exposure.include=dlocks")
				.run((context) -> assertThat(context).hasSingleBean(DlocksEndpoint.class)
					.hasBean("dlockHealthIndicator"));
		}
	}

	@Test
	void forcedReleaseWithARoleOfItsOwnStarts() {
		this.runner
			.withPropertyValues("management.endpoints.web.exposure.include=dlocks", "dlock.endpoint.roles=READER",
					"dlock.endpoint.forced-release=when-authorized")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("dlock.endpoint.forced-release-roles"));
		this.runner
			.withPropertyValues("management.endpoints.web.exposure.include=dlocks",
					"dlock.endpoint.forced-release=when-authorized", "dlock.endpoint.forced-release-roles=OPS")
			.run((context) -> assertThat(context).hasSingleBean(DlocksEndpoint.class));
	}

	@Test
	void inconsistentPropertiesFailTheStart() {
		for (String property : new String[] { "dlock.endpoint.limit=0", "dlock.endpoint.limit=10001",
				"dlock.endpoint.forced-release=when-authorized", "dlock.health.interval=-1s" }) {
			this.runner.withPropertyValues("management.endpoints.web.exposure.include=dlocks", property)
				.run((context) -> assertThat(context).as(property)
					.getFailure()
					.rootCause()
					.hasMessageContaining(property.substring(0, property.indexOf('='))));
		}
	}

}
