package io.dlock.autoconfigure;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.autoconfigure.actuate.DlockHealthAutoConfiguration;
import io.dlock.autoconfigure.actuate.DlocksEndpoint;
import io.dlock.autoconfigure.actuate.DlocksEndpointAutoConfiguration;
import io.dlock.autoconfigure.actuate.console.DlocksConsole;
import io.dlock.autoconfigure.actuate.console.DlocksConsoleAutoConfiguration;
import io.dlock.autoconfigure.metrics.DlockMetricsAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

/**
 * An application whose test has a mock in the place of the registry: without a store, and
 * with all of the Actuator.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE, properties = {
		"management.endpoints.web.exposure.include=*", "dlock.backend=redis", "dlock.console.enabled=true" })
class MockedRegistryBeanTests {

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DlockAutoConfiguration.class, DlockRedisAutoConfiguration.class,
			DlockMetricsAutoConfiguration.class, DlockHealthAutoConfiguration.class,
			DlocksEndpointAutoConfiguration.class, DlocksConsoleAutoConfiguration.class })
	@Import({ Orders.class, SimpleMeterRegistry.class })
	static class Application {

	}

	static class Orders {

		@DistributedLocked(name = "orders", key = "#id")
		public String pay(String id) {
			return "paid";
		}

	}

	@MockitoBean
	LockRegistry registry;

	@Autowired
	Orders orders;

	@Autowired
	ApplicationContext context;

	@Test
	void mockWithoutAnAnswerIsNoLock() {
		assertThatIllegalStateException().isThrownBy(() -> this.orders.pay("42"))
			.withMessageContaining("key=orders:42")
			.withMessageContaining("If it is a mock");
	}

	@Test
	void mockWithAnAnswerWorks() {
		LockHandle handle = mock();
		given(this.registry.acquire(any(LockRequest.class))).willReturn(handle);
		assertThat(this.orders.pay("42")).isEqualTo("paid");
		then(handle).should().release();
	}

	@Test
	void busyMockIsBusy() {
		LockBusyException busy = mock();
		given(this.registry.acquire(any(LockRequest.class))).willThrow(busy);
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.orders.pay("42")).isSameAs(busy);
	}

	@Test
	void actuatorIgnoresMockedRegistry() {
		assertThat(this.context.getBean(HealthIndicator.class).health()).satisfies((health) -> {
			assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN);
			assertThat(health.getDetails()).containsKey("registry");
		});
		DlocksEndpoint endpoint = this.context.getBean(DlocksEndpoint.class);
		assertThat(endpoint.locks(SecurityContext.NONE, null, null, null, null, null).getBody()).asString()
			.contains("not one of dlock");
		assertThat(this.context.getBean(DlocksConsole.class)
			.console(SecurityContext.NONE, "console.json", null, null, null, null)
			.getBody()).asString().contains("not one of dlock");
	}

}
