package io.dlock.aop.aspectj;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.transaction.InsideTransaction;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * R46: the lock is outside of the transaction if both are woven into the same method.
 */
@Tag("woven")
@Timeout(120)
class WovenTransactionIntegrationTests {

	private static final int THREADS = 4;

	private static final int ADDITIONS = 25;

	static class Counter {

		private final JdbcClient jdbc;

		private volatile boolean held;

		Counter(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		void addOften() {
			IntStream.range(0, ADDITIONS).forEach((i) -> add());
		}

		@DistributedLocked(key = "'counter'", waitTime = "60s")
		@Transactional
		private void add() {
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
			int value = value();
			this.jdbc.sql("update woven_counter set amount = ?").param(value + 1).update();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					Counter.this.held = LockHandle.current().map(LockHandle::isValid).orElse(false);
				}

			});
		}

		int value() {
			return this.jdbc.sql("select amount from woven_counter").query(Integer.class).single();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(mode = AdviceMode.ASPECTJ)
	static class Config {

	}

	static List<String> urls() {
		PostgresServer postgres = PostgresServer.shared();
		return List.of("jdbc:h2:mem:" + UUID.randomUUID(), postgres.jdbcUrl());
	}

	private static HikariDataSource pool(String url) {
		PostgresServer postgres = PostgresServer.shared();
		return url.equals(postgres.jdbcUrl()) ? Pools.create(postgres) : Pools.create(url, "sa", "");
	}

	@ParameterizedTest
	@MethodSource("urls")
	void r46WovenLockIsOutsideTheWovenTransaction(String url) {
		try (HikariDataSource pool = pool(url);
				LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
				AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			JdbcClient jdbc = JdbcClient.create(pool);
			jdbc.sql("drop table if exists woven_counter").update();
			jdbc.sql("create table woven_counter (amount int not null)").update();
			jdbc.sql("insert into woven_counter values (0)").update();
			context.registerBean(DistributedLockedBeanPostProcessor.class, () -> {
				DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> registry,
						AdviceMode.ASPECTJ);
				postProcessor.setInsideTransaction(InsideTransaction.FAIL);
				return postProcessor;
			});
			context.registerBean(DataSource.class, () -> pool);
			context.registerBean(JdbcClient.class, () -> jdbc);
			context.registerBean(PlatformTransactionManager.class, () -> new DataSourceTransactionManager(pool));
			context.registerBean(Counter.class);
			context.register(Config.class);
			context.refresh();
			Counter counter = context.getBean(Counter.class);
			CompletableFuture
				.allOf(IntStream.range(0, THREADS)
					.mapToObj((i) -> CompletableFuture.runAsync(counter::addOften))
					.toArray(CompletableFuture[]::new))
				.join();
			assertThat(counter.value()).isEqualTo(THREADS * ADDITIONS);
			assertThat(counter.held).as("held after the commit").isTrue();
		}
	}

}
