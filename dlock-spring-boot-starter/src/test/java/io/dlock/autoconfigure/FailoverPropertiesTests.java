package io.dlock.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The quarantine is for Redis and PostgreSQL.
 */
class FailoverPropertiesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockRedisAutoConfiguration.class,
				DlockJdbcAutoConfiguration.class, DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:failover", "dlock.startup-check=false");

	@Test
	void storeWithoutQuarantineFailsTheStart() {
		this.runner
			.withPropertyValues("dlock.backend=memory", "dlock.failover.quarantine=lease",
					"dlock.failover.longest-lease=30s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(FailureAnalyzedException.class)
				.hasMessageContaining("dlock.failover.quarantine is 'lease', which does not apply to the lock store"));
	}

	@Test
	void databaseWithoutAHistoryFailsTheStart() {
		this.runner
			.withPropertyValues("dlock.backend=jdbc", "dlock.startup-check=true", "dlock.failover.quarantine=lease",
					"dlock.failover.longest-lease=30s")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining(FailureAnalyzedException.class.getName())
				.hasStackTraceContaining("The quarantine of locks after a failover is on, but H2 has no failover"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "jdbc" })
	void storeHasNoQuarantineByDefault(String backend) {
		this.runner.withPropertyValues("dlock.backend=" + backend)
			.run((context) -> assertThat(context.getBean(LockStore.class).quarantine()).isEmpty());
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "jdbc" })
	void storeHasTheQuarantineAndTheRegistryItsLongestLease(String backend) {
		this.runner
			.withPropertyValues("dlock.backend=" + backend, "dlock.failover.quarantine=lease",
					"dlock.failover.longest-lease=40s")
			.run((context) -> {
				assertThat(context.getBean(LockStore.class).quarantine()).hasValue(Duration.ZERO);
				assertThat(context.getBean(LeaseLockRegistry.class).settings().longestLease())
					.isEqualTo(Duration.ofSeconds(40));
			});
	}

}
