package io.dlock.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * C7: the place of the lock in a proxy follows its order. The libraries have their rows
 * in verification/application.
 */
class LockAdvisorPlacementTests {

	private static final List<String> SEEN = Collections.synchronizedList(new ArrayList<>());

	private static void seen(String what) {
		SEEN.add(what + (LockHandle.current().isPresent() ? " inside" : " outside")
				+ (TransactionSynchronizationManager.isActualTransactionActive() ? " in transaction" : ""));
	}

	static class Work {

		@DistributedLocked("'work'")
		public void locked() {
			seen("body");
		}

		@DistributedLocked("'work'")
		@Transactional
		public void transactional() {
			seen("body");
		}

		@DistributedLocked("'work'")
		public CompletableFuture<String> later() {
			seen("body");
			return CompletableFuture.completedFuture("done");
		}

	}

	@Aspect
	@Order(10)
	static class Ten {

		@Before("execution(* *..LockAdvisorPlacementTests.Work.*(..))")
		void advise() {
			seen("ten");
		}

	}

	@Aspect
	@Order(Ordered.LOWEST_PRECEDENCE - 1)
	static class LastOrder {

		@Before("execution(* *..LockAdvisorPlacementTests.Work.*(..))")
		void advise() {
			seen("last");
		}

	}

	@Aspect
	static class WithoutOrder {

		@Before("execution(* *..LockAdvisorPlacementTests.Work.*(..))")
		void advise() {
			seen("none");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(proxyTargetClass = true)
	static class Config {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class Transactions {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true, order = 5)
	static class EarlyTransactions {

	}

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(),
			LockSettings.builder().shutdownTimeout(Duration.ZERO).build());

	private Work start(Consumer<DistributedLockedBeanPostProcessor> settings, Class<?>... components) {
		SEEN.clear();
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID());
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry);
		settings.accept(postProcessor);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		this.context.registerBean(PlatformTransactionManager.class, () -> new DataSourceTransactionManager(dataSource));
		this.context.register(Config.class, Ten.class, LastOrder.class, WithoutOrder.class);
		List.of(components).forEach(this.context::register);
		this.context.registerBean(Work.class);
		this.context.refresh();
		return this.context.getBean(Work.class);
	}

	private Work start(Class<?>... components) {
		return start((postProcessor) -> {
		}, components);
	}

	@AfterEach
	void close() {
		this.context.close();
		this.registry.close();
	}

	@Test
	void c7OrderedAdviceIsOutsideLockAndUnorderedIsInside() {
		start(Transactions.class).locked();
		assertThat(SEEN).containsExactly("ten outside", "last outside", "none inside", "body inside");
	}

	@Test
	void c7AdviceOrderPlacesLock() {
		start((postProcessor) -> postProcessor.setAdviceOrder(11)).locked();
		assertThat(SEEN).containsExactly("ten outside", "last inside", "none inside", "body inside");
	}

	@Test
	void c7LockCanBeOutsideOfAll() {
		start((postProcessor) -> postProcessor.setAdviceOrder(Ordered.HIGHEST_PRECEDENCE)).locked();
		assertThat(SEEN).containsExactly("ten inside", "last inside", "none inside", "body inside");
	}

	@Test
	void c7LockIsOutsideTransactionForAnyOrder() {
		start(EarlyTransactions.class).transactional();
		assertThat(SEEN).containsExactly("ten inside in transaction", "last inside in transaction",
				"none inside in transaction", "body inside in transaction");
	}

	@Test
	void c7AspectsInsideTheLockOfAnAsynchronousMethodRunOnItsThread() {
		assertThat(start().later()).succeedsWithin(Patience.EVENTUALLY).isEqualTo("done");
		assertThat(SEEN).containsExactly("ten outside", "last outside", "none inside", "body inside");
	}

	@Test
	void lowestPrecedenceIsRefusedAsOrder() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> start((postProcessor) -> postProcessor.setAdviceOrder(Ordered.LOWEST_PRECEDENCE)))
			.withMessageContaining("dlock.aop.order must be lower than 2147483647");
	}

}
