package io.dlock.autoconfigure.metrics;

import java.time.Duration;
import java.util.List;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.HiddenKeys;
import io.dlock.console.LockCount;
import io.dlock.console.LockKind;
import io.dlock.metrics.LockMeters;
import io.dlock.observation.DefaultLockCallObservationConvention;
import io.dlock.observation.LockCallObservationConvention;
import io.dlock.observation.LockObservationSettings;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Meters and observations of an application that has the registries for them, or not.
 */
class DlockMetricsAutoConfigurationTests {

	private final ApplicationContextRunner withoutMetrics = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockMetricsAutoConfiguration.class))
		.withBean(Orders.class)
		.withPropertyValues("dlock.backend=memory");

	private final ApplicationContextRunner runner = this.withoutMetrics
		.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
				SimpleMetricsExportAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class));

	public static class Orders {

		@DistributedLocked(name = "orders", key = "#id")
		public void place(long id) {
		}

	}

	private static Timer acquired(MeterRegistry registry) {
		return registry.get("dlock.wait").tags("name", "orders", "outcome", "acquired").timer();
	}

	private static double gauge(MeterRegistry registry, String name, String lockName) {
		return registry.get(name).tags("name", lockName, "kind", "exclusive").gauge().value();
	}

	@Test
	void locksAreMetered() {
		this.runner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(gauge(registry, "dlock.held", "other")).isZero();
			context.getBean(Orders.class).place(42);
			assertThat(acquired(registry).count()).isOne();
			LockHandle held = context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("key")).join();
			assertThat(gauge(registry, "dlock.held", "none")).isOne();
			assertThat(gauge(registry, "dlock.held", "orders")).isZero();
			assertThat(gauge(registry, "dlock.waiting", "none")).isZero();
			assertThat(gauge(registry, "dlock.held.longest", "none")).isPositive();
			held.release();
		});
	}

	@Test
	void metersCanBeTurnedOff() {
		this.runner.withPropertyValues("management.metrics.enable.dlock=false").run((context) -> {
			context.getBean(Orders.class).place(42);
			assertThat(context.getBean(MeterRegistry.class).find("dlock.wait").meters()).isEmpty();
		});
	}

	@Test
	void metersOfTheApplicationReplaceOurs() {
		LockMeters own = new LockMeters(() -> List.of(new LockCount("a", LockKind.PERMIT, 1, 2, Duration.ZERO)));
		this.runner.withBean(LockMeters.class, () -> own).run((context) -> {
			assertThat(context).hasSingleBean(LockMeters.class);
			assertThat(context.getBean(MeterRegistry.class).get("dlock.waiting").tag("kind", "permit").gauge().value())
				.isEqualTo(2);
		});
	}

	@Test
	void withoutAMeterRegistryThereIsNoListener() {
		this.withoutMetrics.run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(LockListener.class);
			context.getBean(Orders.class).place(42);
		});
		this.withoutMetrics
			.withClassLoader(new FilteredClassLoader("io.micrometer.core", "org.springframework.boot.micrometer"))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockListener.class));
	}

	@Test
	void callsAreObservedByTheRegistryOfTheApplication() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.withoutMetrics.withBean(ObservationRegistry.class, () -> observations).run((context) -> {
			context.getBean(Orders.class).place(42);
			assertThat(observations).hasSingleObservationThat()
				.hasNameEqualTo("dlock.call")
				.hasLowCardinalityKeyValue("backend", "memory")
				.hasLowCardinalityKeyValue("outcome", "success");
		});
	}

	@Test
	void withoutAnObservationRegistryNothingIsObserved() {
		this.withoutMetrics.run((context) -> {
			assertThat(context.getBean(LockObservationSettings.class).registry().isNoop()).isTrue();
			context.getBean(Orders.class).place(42);
		});
	}

	@Test
	void conventionOfTheApplicationIsUsed() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.withoutMetrics.withBean(ObservationRegistry.class, () -> observations)
			.withBean(LockCallObservationConvention.class, () -> new DefaultLockCallObservationConvention() {

				@Override
				public String getName() {
					return "our.locks";
				}

			})
			.run((context) -> {
				context.getBean(Orders.class).place(42);
				assertThat(observations).hasSingleObservationThat().hasNameEqualTo("our.locks");
			});
	}

	/**
	 * Nothing that is counted before the end of a call knows its outcome.
	 */
	@Test
	void noMeterHasAnUnknownOutcome() {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
		this.runner.withBean(MeterRegistry.class, () -> meters)
			.withBean(ObservationRegistry.class, () -> observations)
			.run((context) -> {
				context.getBean(Orders.class).place(42);
				assertThat(
						meters.get("dlock.call.acquired").tags("name", "orders", "backend", "memory").counter().count())
					.isOne();
				assertThat(meters.get("dlock.call.active").longTaskTimers()).isNotEmpty();
				assertThat(meters.getMeters()).flatExtracting((meter) -> meter.getId().getTags())
					.noneMatch((tag) -> tag.getValue().equals("unknown"));
				assertThat(meters.get("dlock.call.acquired").counter().getId().getTag("outcome")).isNull();
			});
	}

	/**
	 * Keys that are hidden at the endpoint are hidden on spans, and look the same.
	 */
	@ParameterizedTest
	@CsvSource({ ", hidden", "never, hidden", "when-authorized, hidden", "WHEN_AUTHORIZED, hidden", "always, orders:42",
			"ALWAYS, orders:42" })
	void spansShowKeysAsEndpointDoes(@Nullable String showKeys, String expected) {
		TestObservationRegistry observations = TestObservationRegistry.create();
		String[] properties = (showKeys != null) ? new String[] { "dlock.endpoint.show-keys=" + showKeys }
				: new String[0];
		this.withoutMetrics.withPropertyValues(properties)
			.withBean(ObservationRegistry.class, () -> observations)
			.run((context) -> {
				context.getBean(Orders.class).place(42);
				String shown = expected.equals("hidden") ? context.getBean(HiddenKeys.class).hide("orders:42")
						: expected;
				assertThat(observations).hasSingleObservationThat().hasHighCardinalityKeyValue("dlock.key", shown);
			});
	}

	/**
	 * The meters that come from observations are of the whole call, and have names of
	 * their own.
	 */
	@Test
	void noMeterIsRegisteredTwice() {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
		this.runner.withBean(MeterRegistry.class, () -> meters)
			.withBean(ObservationRegistry.class, () -> observations)
			.run((context) -> {
				context.getBean(Orders.class).place(42);
				assertThat(acquired(meters).count()).isOne();
				assertThat(meters.get("dlock.call").tags("name", "orders", "outcome", "success").timer().count())
					.isOne();
				assertThat(meters.getMeters()).flatExtracting((meter) -> meter.getId().getTags())
					.noneMatch((tag) -> tag.getValue().contains("42") || tag.getKey().startsWith("dlock."));
			});
	}

	/**
	 * The endpoint hides a key as it is stored.
	 */
	@Test
	void r57HiddenKeyOfASpanIsThatOfTheEndpoint() {
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.withoutMetrics.withBean(ObservationRegistry.class, () -> observations)
			.withBean(Customers.class)
			.run((context) -> {
				context.getBean(Customers.class).greet("J\u00fcrgen");
				assertThat(observations).hasSingleObservationThat()
					.hasHighCardinalityKeyValue("dlock.key",
							context.getBean(HiddenKeys.class).hide("customers:J%C3%BCrgen"));
			});
	}

	public static class Customers {

		@DistributedLocked(name = "customers", key = "#name")
		public void greet(String name) {
		}

	}

}
