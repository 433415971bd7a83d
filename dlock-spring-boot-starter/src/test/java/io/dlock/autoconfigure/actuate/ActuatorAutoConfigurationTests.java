package io.dlock.autoconfigure.actuate;

import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.autoconfigure.actuate.console.ConsoleDescriptor;
import io.dlock.autoconfigure.actuate.console.DlocksConsole;
import io.dlock.autoconfigure.actuate.console.DlocksConsoleAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

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

	/**
	 * A key looks the same at the endpoint, at the console and on spans.
	 */
	@Test
	void r57KeysAreHiddenByTheOneBeanOfTheApplication() {
		HiddenKeys own = new HiddenKeys();
		this.runner.withConfiguration(AutoConfigurations.of(DlocksConsoleAutoConfiguration.class))
			.withBean(HiddenKeys.class, () -> own)
			.withPropertyValues("management.endpoints.web.exposure.include=dlocks", "dlock.console.enabled=true",
					"dlock.endpoint.show-keys=never")
			.run((context) -> {
				LockHandle held = context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("key")).join();
				assertThat(context.getBean(DlocksEndpoint.class)
					.locks(SecurityContext.NONE, null, null, null, null, null)
					.getBody()).asInstanceOf(type(LocksDescriptor.class))
					.satisfies((locks) -> assertThat(locks.held()).extracting(LocksDescriptor.Held::key)
						.containsExactly(own.hide("key")));
				assertThat(context.getBean(DlocksConsole.class)
					.console(SecurityContext.NONE, "console.json", null, null, null, null)
					.getBody()).asInstanceOf(type(ConsoleDescriptor.class))
					.satisfies((state) -> assertThat(state.locks().items()).extracting(ConsoleDescriptor.Lock::key)
						.containsExactly(own.hide("key")));
				held.release();
			});
	}

}
