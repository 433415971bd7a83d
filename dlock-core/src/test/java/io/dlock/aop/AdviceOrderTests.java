package io.dlock.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * R46: outside {@code @Transactional}, inside {@code @Async} and {@code @Retryable}.
 */
class AdviceOrderTests {

	static class Work {

		final List<String> seen = Collections.synchronizedList(new ArrayList<>());

		final List<Long> tokens = new ArrayList<>();

		final CountDownLatch asyncDone = new CountDownLatch(1);

		@Transactional
		@DistributedLocked("'work'")
		public void transactional() {
			this.seen.add("transaction " + TransactionSynchronizationManager.isActualTransactionActive());
			this.seen.add("lock " + LockHandle.current().isPresent());
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					Work.this.seen.add("held after commit " + LockHandle.current().orElseThrow().isValid());
				}

			});
		}

		@Retryable(maxRetries = 2, delay = 1)
		@DistributedLocked("'work'")
		public void retried() {
			this.tokens.add(LockHandle.current().orElseThrow().token());
			if (this.tokens.size() < 3) {
				throw new IllegalStateException("again");
			}
		}

		@Async
		@DistributedLocked("'work'")
		public void async() {
			this.seen.add("lock " + LockHandle.current().isPresent());
			this.asyncDone.countDown();
		}

		public List<String> getSeen() {
			return this.seen;
		}

		public List<Long> getTokens() {
			return this.tokens;
		}

		public CountDownLatch getAsyncDone() {
			return this.asyncDone;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	@EnableAsync(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	static class Config {

		@Bean
		static DistributedLockedBeanPostProcessor distributedLockedBeanPostProcessor(
				ObjectProvider<LockRegistry> registry) {
			DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(registry::getObject);
			return postProcessor;
		}

		@Bean
		LeaseLockRegistry lockRegistry() {
			return new LeaseLockRegistry(new MemoryLockStore(),
					LockSettings.builder().shutdownTimeout(Duration.ofSeconds(1)).build());
		}

		@Bean
		PlatformTransactionManager transactionManager() {
			JdbcDataSource dataSource = new JdbcDataSource();
			dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID());
			return new DataSourceTransactionManager(dataSource);
		}

		@Bean
		Work work() {
			return new Work();
		}

	}

	@Test
	void lockIsOutsideTheTransaction() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Config.class)) {
			Work work = context.getBean(Work.class);
			work.transactional();
			assertThat(work.getSeen()).containsExactly("transaction true", "lock true", "held after commit true");
		}
	}

	@Test
	void everyAttemptOfARetryTakesTheLockAnew() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Config.class)) {
			Work work = context.getBean(Work.class);
			work.retried();
			assertThat(work.getTokens()).hasSize(3).doesNotHaveDuplicates().isSorted();
		}
	}

	@Test
	void b35AsyncMethodHoldsTheLockOnTheThreadThatWorks() throws Exception {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Config.class)) {
			Work work = context.getBean(Work.class);
			work.async();
			work.getAsyncDone().await();
			assertThat(work.getSeen()).containsExactly("lock true");
		}
	}

}
