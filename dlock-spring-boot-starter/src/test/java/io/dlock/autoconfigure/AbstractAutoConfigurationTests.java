package io.dlock.autoconfigure;

import java.util.UUID;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications with a Redis server, a database, both or none.
 */
abstract class AbstractAutoConfigurationTests {

	/**
	 * The longest timeout that the leases allow: a busy machine does not reach it.
	 */
	static final String PATIENCE = "dlock.command-timeout=5s";

	final RedisServer redis = RedisServer.shared();

	final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class, DlockRedisAutoConfiguration.class));

	final ApplicationContextRunner redisRunner = this.runner
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.host=" + this.redis.host(),
				"spring.data.redis.port=" + this.redis.port(), PATIENCE);

	final ApplicationContextRunner jdbcRunner = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceInitializationAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", PATIENCE);

	final ApplicationContextRunner bothRunner = this.redisRunner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

	static void works(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed().hasSingleBean(LockRegistry.class).hasBean("dlockRegistry");
		LockRegistry registry = context.getBean(LockRegistry.class);
		try (LockHandle handle = registry.acquire("autoconfigured")) {
			assertThat(registry.find("autoconfigured")).isPresent();
		}
		assertThat(registry.find("autoconfigured")).isEmpty();
	}

	static FailureAnalyzedException failure(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		for (Throwable cause = context.getStartupFailure(); cause != null; cause = cause.getCause()) {
			if (cause instanceof FailureAnalyzedException analyzed) {
				assertThat(analyzed.analysis().getDescription()).endsWith(".");
				assertThat(analyzed.analysis().getAction()).endsWith(".");
				return analyzed;
			}
		}
		throw new AssertionError("not analyzed", context.getStartupFailure());
	}

}
