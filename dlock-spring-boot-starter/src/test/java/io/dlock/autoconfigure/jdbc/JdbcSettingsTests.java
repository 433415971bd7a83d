package io.dlock.autoconfigure.jdbc;

import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.jdbc.SynchronousCommit;
import io.dlock.store.jdbc.WakeUp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * The settings of the store that the properties make.
 */
class JdbcSettingsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
				DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(), "dlock.startup-check=false",
				"dlock.jdbc.initialize-schema=never");

	@Test
	void allSettingsAreTakenOver() {
		this.runner
			.withPropertyValues("dlock.command-timeout=900ms", "dlock.jdbc.table=locks", "dlock.jdbc.pool-size=9",
					"dlock.jdbc.retention=2h", "dlock.jdbc.wake-up=poll", "dlock.jdbc.synchronous-commit=remote-write")
			.run((context) -> assertThat(context.getBean(LockStore.class)).extracting("settings")
				.isEqualTo(new JdbcLockStoreSettings("locks", Duration.ofMillis(900), 9, Duration.ofHours(2),
						WakeUp.POLL, SynchronousCommit.REMOTE_WRITE, null)));
	}

	@Configuration(proxyBeanMethods = false)
	static class Dedicated {

		@Bean(defaultCandidate = false)
		@DlockDataSource
		DataSource lockDataSource() {
			return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
		}

	}

	@Test
	void dataSourceForTheLocksIsUsedWithoutAPoolBesideIt() {
		this.runner.withUserConfiguration(Dedicated.class)
			.withPropertyValues("dlock.jdbc.pool-size=9")
			.run((context) -> assertThat(context.getBean(LockStore.class)).extracting("settings.poolSize")
				.isEqualTo(0));
	}

	@Test
	void scriptOfTheFenceTableIsThatOfTheConfiguredPlatform() {
		this.runner
			.withPropertyValues("dlock.backend=memory", "dlock.startup-check=true",
					"dlock.jdbc.initialize-schema=always", "dlock.jdbc.platform=other")
			.run((context) -> assertThatException().isThrownBy(() -> context.getBean(FencingGuard.class))
				.havingRootCause()
				.withMessageContaining("io/dlock/fencing/jdbc/schema-other.sql"));
	}

}
