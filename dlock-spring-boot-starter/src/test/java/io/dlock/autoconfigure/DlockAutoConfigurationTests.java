package io.dlock.autoconfigure;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.autoconfigure.jdbc.DlockDataSource;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class DlockAutoConfigurationTests extends AbstractAutoConfigurationTests {

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
	static class TwoConnectionFactories {

		@Bean
		RedisConnectionFactory first() {
			RedisServer redis = RedisServer.shared();
			return new LettuceConnectionFactory(redis.host(), redis.port());
		}

		@Bean
		RedisConnectionFactory second() {
			return new LettuceConnectionFactory("127.0.0.1", 1);
		}

	}

	@Test
	void severalRedisConnectionFactoriesAreAnErrorUnlessOneIsPrimary() {
		this.runner.withUserConfiguration(TwoConnectionFactories.class).run((context) -> {
			assertThat(failure(context).analysis().getDescription()).contains("several RedisConnectionFactory beans");
			assertThat(failure(context).analysis().getAction()).contains("@Primary");
		});
		this.runner.withUserConfiguration(TwoConnectionFactories.class)
			.withInitializer((context) -> context
				.addBeanFactoryPostProcessor((beans) -> beans.getBeanDefinition("first").setPrimary(true)))
			.withPropertyValues(PATIENCE)
			.run(DlockAutoConfigurationTests::works);
	}

	@Configuration(proxyBeanMethods = false)
	static class RoutingDataSource {

		@Bean
		DataSource routing() {
			return new AbstractRoutingDataSource() {

				{
					setTargetDataSources(Map.of());
					setDefaultTargetDataSource(TwoDataSources.pool("tenants"));
				}

				@Override
				protected @Nullable Object determineCurrentLookupKey() {
					return null;
				}

			};
		}

	}

	@Test
	void dataSourceThatRoutesIsAnErrorUnlessOneIsForTheLocks() {
		for (String check : List.of("dlock.startup-check=true", "dlock.startup-check=false")) {
			this.runner.withUserConfiguration(RoutingDataSource.class).withPropertyValues(check).run((context) -> {
				assertThat(failure(context).analysis().getDescription()).contains("one database");
				assertThat(failure(context).analysis().getAction()).contains("@DlockDataSource");
			});
		}
		this.runner.withUserConfiguration(RoutingDataSource.class, DedicatedDataSource.class)
			.run(DlockAutoConfigurationTests::works);
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

}
