package io.dlock.transaction;

import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.util.ClassUtils;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.ReducedClassPath;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with locks in memory or a store of its own may have neither spring-tx
 * nor spring-jdbc nor spring-data-redis.
 */
class WithoutSpringTransactionsTests {

	public static class Work {

		@DistributedLocked("'work'")
		public boolean isLocked() {
			return LockHandle.current().orElseThrow().isValid();
		}

	}

	public static class Application implements Callable<Boolean> {

		@Override
		public Boolean call() {
			ClassLoader loader = getClass().getClassLoader();
			assertThat(ClassUtils.isPresent("org.springframework.transaction.TransactionExecution", loader)).isFalse();
			try (LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
					AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
				context.setClassLoader(loader);
				context.registerBean(DistributedLockedBeanPostProcessor.class, () -> {
					DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(
							() -> registry);
					postProcessor.setProxyTargetClass(true);
					return postProcessor;
				});
				context.registerBean(LockRegistry.class, () -> registry);
				context.registerBean(Work.class);
				context.refresh();
				return context.getBean(Work.class).isLocked();
			}
		}

	}

	@Test
	void methodIsLocked() throws Exception {
		assertThat(ReducedClassPath.call("spring-tx|spring-jdbc|spring-data", Application.class)).isEqualTo(true);
	}

}
