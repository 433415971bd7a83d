package io.dlock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.fencing.StaleTokenException;
import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.fencing.redis.FencedValues;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Fences exist when they are injected, and have no effect otherwise.
 */
class FencingAutoConfigurationTests {

	private final RedisServer redis = RedisServer.shared();

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class, DlockRedisAutoConfiguration.class));

	private final ApplicationContextRunner memoryRunner = this.runner.withPropertyValues("dlock.backend=memory");

	private final ApplicationContextRunner redisRunner = this.runner
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.host=" + this.redis.host(),
				"spring.data.redis.port=" + this.redis.port(), "dlock.command-timeout=5s");

	private final ApplicationContextRunner jdbcRunner = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, DataSourceInitializationAutoConfiguration.class,
				TransactionAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1",
				"dlock.command-timeout=5s");

	private static int fenceTables(DataSource dataSource, String name) {
		return JdbcClient.create(dataSource)
			.sql("SELECT COUNT(*) FROM information_schema.tables WHERE LOWER(table_name) = ?")
			.param(name)
			.query(Integer.class)
			.single();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Shop {

		@Bean
		Orders orders(FencingGuard guard) {
			return new Orders(guard);
		}

	}

	static class Orders {

		private final FencingGuard guard;

		Orders(FencingGuard guard) {
			this.guard = guard;
		}

		@DistributedLocked("'orders/7'")
		@Transactional
		public long pay() {
			this.guard.check();
			return LockHandle.current().orElseThrow().token();
		}

	}

	@Test
	void guardIsInjectedAndItsTableIsCreated() {
		this.jdbcRunner.withUserConfiguration(Shop.class).run((context) -> {
			long token = context.getBean(Orders.class).pay();
			assertThat(context.getBean(Orders.class).pay()).isGreaterThan(token);
			FencingGuard guard = context.getBean(FencingGuard.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> transaction.executeWithoutResult((status) -> guard.check("orders/7", token)));
		});
	}

	@Test
	void guardIsThereWhereverTheLocksAre() {
		this.jdbcRunner.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.host=" + this.redis.host(),
					"spring.data.redis.port=" + this.redis.port(), "dlock.backend=redis")
			.withUserConfiguration(Shop.class)
			.run((context) -> {
				assertThat(context.getBean(Orders.class).pay()).isPositive();
				assertThat(fenceTables(context.getBean(DataSource.class), "dlock_lock")).as("not needed").isZero();
			});
	}

	@Test
	void tableHasTheConfiguredName() {
		this.jdbcRunner.withUserConfiguration(Shop.class)
			.withPropertyValues("dlock.jdbc.fence-table=tokens")
			.run((context) -> {
				context.getBean(Orders.class).pay();
				assertThat(fenceTables(context.getBean(DataSource.class), "tokens")).isEqualTo(1);
				assertThat(fenceTables(context.getBean(DataSource.class), "dlock_fence")).isZero();
			});
		this.jdbcRunner.withUserConfiguration(Shop.class)
			.withPropertyValues("dlock.jdbc.fence-table=to kens")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'fenceTable' must be a name"));
	}

	@Test
	void tableIsNotCreatedUnlessWanted() {
		this.jdbcRunner.withUserConfiguration(Shop.class)
			.withPropertyValues("dlock.jdbc.initialize-schema=never", "dlock.backend=memory")
			.run((context) -> {
				assertThat(fenceTables(context.getBean(DataSource.class), "dlock_fence")).isZero();
				assertThatExceptionOfType(IllegalStateException.class)
					.isThrownBy(() -> context.getBean(Orders.class).pay())
					.withMessageContaining("dlock_fence");
			});
	}

	@Test
	void applicationWithoutTheGuardGetsNoTable() {
		this.jdbcRunner.withPropertyValues("dlock.jdbc.initialize-schema=always").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(fenceTables(context.getBean(DataSource.class), "dlock_fence")).isZero();
		});
	}

	/**
	 * A database that is down.
	 */
	static class Unreachable extends AbstractDataSource {

		@Override
		public Connection getConnection() throws SQLException {
			throw new SQLException("down");
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

	@Test
	void unavailableDatabaseFailsOnlyTheGuard() {
		ApplicationContextRunner down = this.memoryRunner.withBean(DataSource.class, Unreachable::new)
			.withPropertyValues("dlock.jdbc.initialize-schema=always");
		down.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.containsBean("dlockFencingGuard")).isTrue();
		});
		down.withUserConfiguration(Shop.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).hasRootCauseMessage("down")
				.hasStackTraceContaining(FailureAnalyzedException.class.getName())
				.hasStackTraceContaining("fence table 'dlock_fence'");
		});
		down.withPropertyValues("dlock.startup-check=false")
			.withUserConfiguration(Shop.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void thereIsNoGuardForOneOfSeveralDatabases() {
		this.memoryRunner.withBean("first", DataSource.class, Unreachable::new)
			.withBean("second", DataSource.class, Unreachable::new)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(FencingGuard.class));
	}

	@Test
	void guardOfTheUserIsUsed() {
		FencingGuard own = new FencingGuard(new Unreachable());
		this.jdbcRunner.withBean(FencingGuard.class, () -> own)
			.run((context) -> assertThat(context.getBean(FencingGuard.class)).isSameAs(own));
	}

	@Test
	void fencedValuesAreThereWhereverTheLocksAre() {
		String key = "fenced:" + UUID.randomUUID();
		this.redisRunner.withPropertyValues("dlock.backend=memory").run((context) -> {
			assertThat(context).doesNotHaveBean(FencingGuard.class);
			FencedValues values = context.getBean(FencedValues.class);
			long token = context.getBean(LockRegistry.class).execute(LockRequest.of(key), (handle) -> {
				values.set(key, "value");
				return handle.token();
			});
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> values.set(key, "stale", token - 1));
			assertThat(values.get(key)).contains("value");
		});
	}

	@Test
	void redisThatIsDownDoesNotFailTheStart() {
		this.memoryRunner.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.port=1")
			.run((context) -> assertThat(context).hasNotFailed().hasBean("dlockFencedValues"));
	}

	@Test
	void thereAreNoFencesWithoutRedisAndJdbcOnTheClassPath() {
		this.memoryRunner
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc",
					"org.springframework.data.redis"))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean("dlockFencingGuard")
				.doesNotHaveBean("dlockFencedValues"));
		this.redisRunner
			.withClassLoader(
					new FilteredClassLoader("org.springframework.jdbc", "com.zaxxer", "org.springframework.boot.jdbc"))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("dlockFencedValues"));
		this.jdbcRunner.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("dlockFencingGuard"));
	}

	@Configuration(proxyBeanMethods = false)
	static class Logging {

		@Bean
		Logged logged() {
			return new Logged();
		}

	}

	static class Logged {

		@DistributedLocked("'logged'")
		public Map<String, String> run() {
			Map<String, String> shown = MDC.getCopyOfContextMap();
			return (shown != null) ? shown : Map.of();
		}

	}

	@Test
	void logShowsTheTokenUnlessSwitchedOff() {
		this.memoryRunner.withUserConfiguration(Logging.class)
			.run((context) -> assertThat(context.getBean(Logged.class).run()).containsKey("dlock.token")
				.containsEntry("dlock.reason", "Logged.run"));
		this.memoryRunner.withUserConfiguration(Logging.class)
			.withPropertyValues("dlock.mdc=false")
			.run((context) -> assertThat(context.getBean(Logged.class).run()).isEmpty());
	}

	@Test
	void guardIsCreatedAfterTheScriptsOfTheApplication() {
		this.jdbcRunner.run((context) -> {
			String[] scripts = context.getBeanNamesForType(DataSourceScriptDatabaseInitializer.class);
			assertThat(scripts).isNotEmpty();
			assertThat(context.getBeanFactory().getBeanDefinition("dlockFencingGuard").getDependsOn())
				.contains(scripts);
		});
	}

	@Test
	void tableThatCannotBeCreatedFailsTheStart() {
		this.jdbcRunner.withUserConfiguration(Shop.class)
			.withPropertyValues("dlock.jdbc.fence-table=missing.dlock_fence", "dlock.startup-timeout=0s")
			.run((context) -> {
				assertThat(context).hasFailed();
				assertThat(context.getStartupFailure()).hasStackTraceContaining("fence table 'missing.dlock_fence'");
			});
	}

}
