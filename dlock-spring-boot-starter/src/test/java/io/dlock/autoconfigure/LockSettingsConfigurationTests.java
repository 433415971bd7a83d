package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.convert.converter.Converter;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.ReleaseMode;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The settings of the registry that the properties make.
 */
class LockSettingsConfigurationTests extends AbstractAutoConfigurationTests {

	@Test
	void locksAreFairIfThatIsTheDefault() {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.fair=true")
			.run((context) -> assertThat(context.getBean(LeaseLockRegistry.class).settings().fair()).isTrue());
	}

	@Test
	void durationsAreReadWithTheConvertersOfTheApplication() {
		this.runner.withUserConfiguration(WeeksConfiguration.class)
			.withPropertyValues("dlock.backend=memory", "dlock.lease=2 weeks")
			.run((context) -> assertThat(context.getBean(LeaseLockRegistry.class).settings().lease())
				.isEqualTo(Duration.ofDays(14)));
	}

	@ParameterizedTest
	@CsvSource({ "dlock.lease=30, has no unit", "dlock.waitTime=5, has no unit", "DLOCK.COMMAND-TIMEOUT=100, no unit",
			"dlock.lease=0s, must be positive", "dlock.lease=-5s, must be positive", "dlock.max-hold=60, has no unit",
			"dlock.max-hold=29s, shorter than the default lease of 30000 ms",
			"dlock.wait-time=-1s, must not be negative", "dlock.command-timeout=8s, shorter than 4 command timeouts",
			"dlock.max-poll-interval=0s, must be positive", "dlock.shutdown-timeout=-1s, must not be negative",
			"dlock.max-hold=366d, must not be longer than", "dlock.max-poll-interval=366d, must not be longer than",
			"dlock.shutdown-timeout=366d, must not be longer than",
			"dlock.hand-off.max-duration=366d, must not be longer than",
			"dlock.hand-off.max-duration=-1s, must not be negative", "dlock.instance=, must not be blank" })
	void inconsistentValueIsAnError(String property, String message) {
		this.runner.withPropertyValues("dlock.backend=memory", property)
			.run((context) -> assertThat(failure(context).analysis().getDescription()).contains(message));
	}

	@Test
	void everyDurationNeedsAUnit() {
		List<String> durations = ConfigurationMetadata.properties()
			.stream()
			.filter((property) -> property.type().equals(Duration.class.getName()))
			.map(ConfigurationMetadata.Property::name)
			.toList();
		assertThat(durations).contains("dlock.lease", "dlock.jdbc.retention", "dlock.health.interval");
		for (String property : durations) {
			this.runner.withPropertyValues("dlock.backend=memory", property + "=30")
				.run((context) -> assertThat(failure(context).analysis().getDescription()).contains(property,
						"has no unit"));
		}
	}

	@Test
	void inconsistentValueIsAnErrorWithEveryBackend() {
		for (ApplicationContextRunner backend : List.of(this.redisRunner, this.jdbcRunner)) {
			backend.withPropertyValues("dlock.lease=-5s")
				.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("positive"));
		}
		this.redisRunner.withPropertyValues("dlock.redis.prefix={a}")
			.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("prefix"));
		this.jdbcRunner.withPropertyValues("dlock.jdbc.pool-size=1")
			.run((context) -> assertThat(failure(context).analysis().getDescription())
				.contains("dlock.jdbc.pool-size"));
		for (String retention : List.of("59s", "36501d", "-1d")) {
			this.jdbcRunner.withPropertyValues("dlock.jdbc.retention=" + retention)
				.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("retention"));
		}
		this.runner.withBean(LockStore.class, MemoryLockStore::new)
			.withPropertyValues("dlock.lease=30")
			.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("no unit"));
	}

	@Test
	void settingsAreTakenOver() {
		this.runner
			.withPropertyValues("dlock.backend=memory", "dlock.lease=2s", "dlock.wait-time=0s", "dlock.instance=me",
					"spring.application.name=orders")
			.run((context) -> {
				LockRegistry registry = context.getBean(LockRegistry.class);
				try (LockHandle handle = registry.acquire("key")) {
					assertThat(handle.remaining()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(2));
					assertThat(registry.find("key").orElseThrow().holder()).startsWith("me [");
				}
				registry.validate(LockRequest.builder("key").lease(Duration.ofMillis(800)).build());
			});
	}

	@Test
	void allSettingsAreTakenOver() {
		this.runner
			.withPropertyValues("dlock.backend=memory", "dlock.lease=20s", "dlock.wait-time=3s",
					"dlock.command-timeout=900ms", "dlock.max-poll-interval=70ms", "dlock.shutdown-timeout=1s",
					"dlock.hand-off.max-duration=30ms", "dlock.release=async", "dlock.instance=me", "dlock.max-hold=5m",
					"dlock.fair=true")
			.run((context) -> assertThat(context.getBean(LeaseLockRegistry.class).settings()).usingRecursiveComparison()
				.isEqualTo(LockSettings.builder()
					.lease(Duration.ofSeconds(20))
					.waitTime(Duration.ofSeconds(3))
					.commandTimeout(Duration.ofMillis(900))
					.maxPollInterval(Duration.ofMillis(70))
					.shutdownTimeout(Duration.ofSeconds(1))
					.handOffMaxDuration(Duration.ofMillis(30))
					.releaseMode(ReleaseMode.ASYNC)
					.instance("me")
					.maxHold(Duration.ofMinutes(5))
					.fair(true)
					.build()));
	}

	@Test
	void guaranteesOfOtherBackendsAreIgnoredInMemory() {
		this.runner
			.withPropertyValues("dlock.backend=memory", "dlock.redis.acknowledge=fsync",
					"dlock.jdbc.synchronous-commit=on")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void startupTimeoutIsTakenOver() {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.startup-timeout=3s")
			.run((context) -> assertThat(context.getBean(DlockProperties.class).startupRetry())
				.isEqualTo(new StartupRetry(Duration.ofSeconds(3))));
	}

	@Test
	void instanceIsNamedByApplicationHostProcessAndItsStart() {
		ProcessHandle process = ProcessHandle.current();
		String start = Long.toString(process.info().startInstant().orElseThrow().toEpochMilli(), 36);
		this.runner.withPropertyValues("dlock.backend=memory", "spring.application.name=orders").run((context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			try (LockHandle handle = registry.acquire("key")) {
				assertThat(registry.find("key").orElseThrow().holder()).matches("orders@[^@: ]+:.*")
					.contains(":" + process.pid() + "-" + start + " [");
			}
		});
	}

	@Test
	void commandTimeoutOfTheStoreIsThatOfTheProperty() {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.command-timeout=700ms")
			.run((context) -> assertThat(context.getBean(DlockProperties.class).effectiveCommandTimeout())
				.isEqualTo(Duration.ofMillis(700)));
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.lease=2s")
			.run((context) -> assertThat(context.getBean(DlockProperties.class).effectiveCommandTimeout())
				.isEqualTo(Duration.ofMillis(200)));
	}

	@Test
	void nameOfAnApplicationMayHaveABracket() {
		this.runner.withPropertyValues("dlock.backend=memory", "spring.application.name=Orders [EU]").run((context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			try (LockHandle handle = registry.acquire("key")) {
				assertThat(registry.find("key").orElseThrow().holder()).startsWith("Orders (EU]@");
			}
		});
	}

	@Test
	void nameOfAnApplicationMayHaveAControlCharacter() {
		this.runner.withPropertyValues("dlock.backend=memory", "spring.application.name=shop\u0085")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void longNameOfAnApplicationIsShortened() {
		this.runner.withPropertyValues("dlock.backend=memory", "spring.application.name=" + "x".repeat(300))
			.run((context) -> {
				LockRegistry registry = context.getBean(LockRegistry.class);
				try (LockHandle handle = registry.acquire("key")) {
					assertThat(registry.find("key").orElseThrow().holder()).startsWith("xxx")
						.contains(":" + ProcessHandle.current().pid() + "-")
						.contains(" [");
				}
			});
	}

	@ParameterizedTest
	@CsvSource({ "-1s", "61m" })
	void c5StartTimeoutHasLimits(String timeout) {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.startup-timeout=" + timeout)
			.run((context) -> assertThat(failure(context).analysis().getDescription())
				.contains("'dlock.startup-timeout' must be 0 to 60 minutes"));
	}

	@Configuration(proxyBeanMethods = false)
	static class WeeksConfiguration {

		@Bean
		@ConfigurationPropertiesBinding
		static Converter<String, Duration> weeks() {
			return (text) -> text.endsWith(" weeks")
					? Duration.ofDays(7 * Long.parseLong(text.substring(0, text.indexOf(' '))))
					: DurationStyle.detectAndParse(text);
		}

	}

}
