package io.dlock.autoconfigure;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.convert.converter.Converter;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.autoconfigure.jdbc.DlockDataSource;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.autoconfigure.redis.DlockRedisAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class DlockAutoConfigurationTests {

	/**
	 * The longest timeout that the leases allow: a busy machine does not reach it.
	 */
	private static final String PATIENCE = "dlock.command-timeout=5s";

	private final RedisServer redis = RedisServer.shared();

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class, DlockRedisAutoConfiguration.class));

	private final ApplicationContextRunner redisRunner = this.runner
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.host=" + this.redis.host(),
				"spring.data.redis.port=" + this.redis.port(), PATIENCE);

	private final ApplicationContextRunner jdbcRunner = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceInitializationAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", PATIENCE);

	private final ApplicationContextRunner bothRunner = this.redisRunner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

	private static void works(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed().hasSingleBean(LockRegistry.class).hasBean("dlockRegistry");
		LockRegistry registry = context.getBean(LockRegistry.class);
		try (LockHandle handle = registry.acquire("autoconfigured")) {
			assertThat(registry.find("autoconfigured")).isPresent();
		}
		assertThat(registry.find("autoconfigured")).isEmpty();
	}

	private static FailureAnalyzedException failure(AssertableApplicationContext context) {
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

	// the backend

	@Test
	void redisIsUsedWhenItIsTheOnlyOne(CapturedOutput output) {
		this.redisRunner.run((context) -> {
			works(context);
			assertThat(context.getBean(LockStore.class)).isInstanceOf(RedisLockStore.class);
			assertThat(output).contains("Locks are in redis (Lettuce, " + this.redis.host() + ":" + this.redis.port())
				.contains("lease 30000 ms, wait time 5000 ms, command timeout 5000 ms");
		});
	}

	@Test
	void jedisIsUsedWhenTheApplicationUsesIt() {
		this.redisRunner.withPropertyValues("spring.data.redis.client-type=jedis").run((context) -> {
			works(context);
			assertThat(context.getBean(LockStore.class).describe()).contains("Jedis");
		});
	}

	@Test
	void databaseIsUsedWhenItIsTheOnlyOne(CapturedOutput output) {
		this.jdbcRunner.run((context) -> {
			works(context);
			assertThat(context.getBean(LockStore.class)).isInstanceOf(JdbcLockStore.class);
			assertThat(output).contains("Locks are in jdbc (jdbc:h2:mem:").contains("table dlock_lock)");
		});
	}

	@Test
	void databaseIsUsedWithoutRedisOnTheClassPath() {
		this.jdbcRunner.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class))
			.run(DlockAutoConfigurationTests::works);
	}

	@Test
	void redisIsUsedWithoutJdbcOnTheClassPath() {
		this.redisRunner
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "com.zaxxer",
					"org.springframework.boot.jdbc", "org.springframework.boot.sql"))
			.run(DlockAutoConfigurationTests::works);
	}

	@Test
	void bothPossibleAndNoneChosenIsAnError() {
		this.bothRunner.run((context) -> {
			FailureAnalyzedException ex = failure(context);
			assertThat(ex.analysis().getDescription()).contains("RedisConnectionFactory and a DataSource");
			assertThat(ex.analysis().getAction()).contains("dlock.backend=redis", "dlock.backend=jdbc");
		});
	}

	@Test
	void bothPossibleAndOneChosen() {
		this.bothRunner.withPropertyValues("dlock.backend=redis")
			.run((context) -> assertThat(context.getBean(LockStore.class)).isInstanceOf(RedisLockStore.class));
		this.bothRunner.withPropertyValues("dlock.backend=jdbc")
			.run((context) -> assertThat(context.getBean(LockStore.class)).isInstanceOf(JdbcLockStore.class));
		this.bothRunner.withPropertyValues("dlock.backend=memory")
			.run((context) -> assertThat(context.getBean(LockStore.class)).isInstanceOf(MemoryLockStore.class));
	}

	@Test
	void nonePossibleIsAnErrorAndNeverMemory() {
		this.runner.run((context) -> assertThat(failure(context).analysis().getAction())
			.contains("spring-boot-starter-data-redis", "dlock.backend=memory"));
		this.runner.withPropertyValues("dlock.backend=memory").run(DlockAutoConfigurationTests::works);
	}

	@Test
	void missingBackendIsAnError() {
		this.jdbcRunner.withPropertyValues("dlock.backend=redis")
			.run((context) -> assertThat(failure(context).analysis().getDescription())
				.contains("dlock.backend is 'redis'", "RedisConnectionFactory"));
	}

	@Test
	void unknownBackendIsAnError() {
		this.jdbcRunner.withPropertyValues("dlock.backend=mongo")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("mongo"));
	}

	// what the user brings

	@Test
	void registryOfTheUserIsUsed() {
		LockRegistry own = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
		this.runner.withBean("own", LockRegistry.class, () -> own).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(LockStore.class).doesNotHaveBean("dlockRegistry");
			assertThat(context.getBean(LockRegistry.class)).isSameAs(own);
		});
	}

	@Test
	void storeOfTheUserIsUsed() {
		MemoryLockStore own = new MemoryLockStore();
		this.bothRunner.withBean(LockStore.class, () -> own).run((context) -> {
			works(context);
			assertThat(context.getBean(LockStore.class)).isSameAs(own);
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource first() {
			return pool("first");
		}

		@Bean
		DataSource second() {
			return pool("second");
		}

		static HikariDataSource pool(String name) {
			HikariDataSource dataSource = new HikariDataSource();
			dataSource.setJdbcUrl("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1");
			return dataSource;
		}

	}

	@Test
	void severalDataSourcesAreAnErrorUnlessOneIsForTheLocks() {
		this.runner.withUserConfiguration(TwoDataSources.class)
			.run((context) -> assertThat(failure(context).analysis().getAction()).contains("@DlockDataSource"));
		this.runner.withUserConfiguration(TwoDataSources.class, DedicatedDataSource.class).run((context) -> {
			works(context);
			assertThat(context.getBean(LockStore.class).describe()).contains("jdbc:h2:mem:locks");
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class DedicatedDataSource {

		@Bean(defaultCandidate = false)
		@DlockDataSource
		DataSource lockDataSource() {
			return TwoDataSources.pool("locks");
		}

	}

	@Test
	void dataSourceForTheLocksIsUsedBesideTheApplications() {
		this.jdbcRunner.withUserConfiguration(DedicatedDataSource.class).run((context) -> {
			works(context);
			assertThat(context.getBean(LockStore.class).describe()).contains("jdbc:h2:mem:locks");
		});
	}

	/**
	 * A bean that is no default candidate is a candidate for the locks.
	 */
	@Test
	void dataSourceForTheLocksMayBeTheOnlyOne() {
		this.runner.withUserConfiguration(DedicatedDataSource.class).run((context) -> {
			works(context);
			assertThat(context.getBean(LockStore.class).describe()).contains("jdbc:h2:mem:locks");
		});
		this.redisRunner.withUserConfiguration(DedicatedDataSource.class)
			.withPropertyValues("dlock.backend=jdbc")
			.run(DlockAutoConfigurationTests::works);
	}

	// the table

	@Test
	void missingTableIsAnErrorWithAnAction() {
		this.jdbcRunner.withPropertyValues("dlock.jdbc.initialize-schema=never").run((context) -> {
			FailureAnalyzedException ex = failure(context);
			assertThat(ex.analysis().getDescription()).contains("'dlock_lock'").contains("missing");
			assertThat(ex.analysis().getAction()).contains("dlock.jdbc.initialize-schema=always");
		});
	}

	@Test
	void tableMayHaveAnotherName() {
		this.jdbcRunner.withPropertyValues("dlock.jdbc.table=shop_locks").run((context) -> {
			works(context);
			assertThat(JdbcClient.create(context.getBean(DataSource.class))
				.sql("SELECT COUNT(*) FROM shop_locks")
				.query(Long.class)
				.single()).isPositive();
		});
	}

	@Test
	void tableNameThatIsNoNameIsAnError() {
		this.jdbcRunner.withPropertyValues("dlock.jdbc.table=locks; DROP TABLE orders")
			.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("DROP TABLE orders"));
	}

	@Test
	void tableOfTheUsersOwnScriptExistsInTime() {
		this.jdbcRunner
			.withPropertyValues("dlock.jdbc.initialize-schema=never", "spring.sql.init.mode=always",
					"spring.sql.init.schema-locations=classpath:io/dlock/store/jdbc/schema-h2.sql")
			.run(DlockAutoConfigurationTests::works);
	}

	@Test
	void locksAreFairIfThatIsTheDefault() {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.fair=true")
			.run((context) -> assertThat(context.getBean(LeaseLockRegistry.class).settings().fair()).isTrue());
	}

	// durations

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
			.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("poolSize"));
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
	void instanceIsNamedByApplicationHostAndProcess() {
		this.runner.withPropertyValues("dlock.backend=memory", "spring.application.name=orders").run((context) -> {
			LockRegistry registry = context.getBean(LockRegistry.class);
			try (LockHandle handle = registry.acquire("key")) {
				assertThat(registry.find("key").orElseThrow().holder()).startsWith("orders@")
					.contains(":" + ProcessHandle.current().pid() + " [");
			}
		});
	}

	// a store that is not there

	@Test
	void unreachableStoreFailsTheStart() {
		this.redisRunner
			.withPropertyValues("spring.data.redis.port=1", "dlock.command-timeout=1s", "dlock.start-timeout=0s")
			.run((context) -> {
				FailureAnalyzedException ex = failure(context);
				assertThat(ex.analysis().getDescription()).contains("127.0.0.1:1");
				assertThat(ex.analysis().getAction()).contains("dlock.startup-check=false");
			});
	}

	@Test
	void unreachableDatabaseFailsTheStart() {
		for (String mode : List.of("embedded", "always")) {
			this.jdbcRunner
				.withPropertyValues("spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/nothing",
						"spring.datasource.hikari.connection-timeout=300", "dlock.command-timeout=1s",
						"dlock.start-timeout=0s", "dlock.jdbc.initialize-schema=" + mode)
				.run((context) -> assertThat(failure(context).analysis().getDescription()).contains("lock"));
		}
		this.jdbcRunner
			.withPropertyValues("spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/nothing",
					"spring.datasource.hikari.connection-timeout=300", "dlock.command-timeout=1s",
					"dlock.startup-check=false")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				LockRegistry registry = context.getBean(LockRegistry.class);
				assertThatExceptionOfType(LockStoreException.class)
					.isThrownBy(() -> registry.tryAcquire("key", Duration.ZERO));
			});
	}

	@ParameterizedTest
	@CsvSource({ "-1s", "61m" })
	void c5StartTimeoutHasLimits(String timeout) {
		this.runner.withPropertyValues("dlock.backend=memory", "dlock.start-timeout=" + timeout)
			.run((context) -> assertThat(failure(context).analysis().getDescription())
				.contains("'startTimeout' must be 0 to 60 minutes"));
	}

	@Test
	void c10FailingScriptFailsTheStartUnlessItMayContinue() {
		ApplicationContextRunner broken = this.jdbcRunner.withPropertyValues("dlock.jdbc.initialize-schema=always",
				"dlock.jdbc.schema=classpath:io/dlock/autoconfigure/broken-schema.sql");
		broken.run((context) -> assertThat(failure(context).analysis().getDescription())
			.contains("dlock cannot create its lock table 'dlock_lock'")
			.contains("NO_TABLE"));
		broken.withPropertyValues("dlock.jdbc.continue-on-error=true").run(DlockAutoConfigurationTests::works);
	}

	@Test
	void unreachableStoreIsAcceptedOnDemand() {
		this.redisRunner.withPropertyValues("spring.data.redis.port=1", "dlock.startup-check=false").run((context) -> {
			assertThat(context).hasNotFailed();
			LockRegistry registry = context.getBean(LockRegistry.class);
			assertThatExceptionOfType(LockStoreException.class)
				.isThrownBy(() -> registry.tryAcquire("key", Duration.ZERO));
		});
	}

	@Test
	void passwordIsNotShown(CapturedOutput output) {
		this.jdbcRunner.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";PASSWORD=hush")
			.run((context) -> assertThat(output).doesNotContain("hush"));
	}

	// the annotation

	static class Orders {

		@DistributedLocked(key = "#id", name = "orders", lease = "${orders.lease:20s}")
		public String pay(String id) {
			return LockHandle.current().orElseThrow().key();
		}

	}

	static class Broken {

		@DistributedLocked(key = "#id", lease = "30")
		public void pay(String id) {
		}

	}

	@Test
	void annotationWorks() {
		this.jdbcRunner.withBean(Orders.class)
			.run((context) -> assertThat(context.getBean(Orders.class).pay("42")).isEqualTo("orders:42"));
	}

	@Test
	void invalidAnnotationFailsTheStart() {
		this.jdbcRunner.withBean(Broken.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("no unit"));
	}

	@Test
	void annotationWorksWithTheRegistryOfTheUser() {
		LeaseLockRegistry own = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
		this.runner.withBean(LockRegistry.class, () -> own)
			.withBean(Orders.class)
			.run((context) -> assertThat(context.getBean(Orders.class).pay("42")).isEqualTo("orders:42"));
	}

	// shutdown

	@Test
	void r51LocksAreReleasedBeforeTheRedisClientIsClosed() {
		String key = "left behind " + UUID.randomUUID();
		this.redisRunner.withPropertyValues("dlock.shutdown-timeout=0s").run((context) -> {
			context.getBean(LockRegistry.class).acquireAsync(LockRequest.of(key)).join();
			context.close();
		});
		this.redisRunner.run((context) -> assertThat(context.getBean(LockRegistry.class).tryAcquire(key, Duration.ZERO))
			.hasValueSatisfying(LockHandle::release));
	}

	@Test
	void r51LocksAreReleasedBeforeTheDatabaseIsClosed() {
		String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
		this.jdbcRunner.withPropertyValues("spring.datasource.url=" + url, "dlock.shutdown-timeout=0s")
			.run((context) -> {
				context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("left behind")).join();
				context.close();
				try (HikariDataSource later = new HikariDataSource()) {
					later.setJdbcUrl(url);
					later.setUsername("sa");
					try (Connection connection = later.getConnection()) {
						assertThat(JdbcClient.create(later)
							.sql("SELECT owner FROM dlock_lock WHERE lock_key = 'left%20behind'")
							.query(String.class)
							.single()).isEmpty();
					}
				}
			});
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
