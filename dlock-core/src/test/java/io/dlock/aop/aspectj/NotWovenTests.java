package io.dlock.aop.aspectj;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;
import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.InvalidLockedMethodException;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * AspectJ mode without AspectJ: this JVM has no agent.
 */
class NotWovenTests {

	static class Orders {

		@DistributedLocked
		public void pay() {
		}

	}

	/**
	 * As other aspects would leave it.
	 */
	static class WovenForOthers {

		@DistributedLocked
		public void pay(String order) {
		}

		static void pay_aroundBody0(WovenForOthers self, String order) {
		}

	}

	/**
	 * As the weaver would leave another method of this name.
	 */
	static class Overloaded {

		/** The trace that a compiler would leave in the file of the class. */
		static final String ASPECT = "io/dlock/aop/aspectj/DistributedLockedAspect";

		@DistributedLocked
		public void pay(String order) {
		}

		static void pay_aroundBody0(Overloaded self, int order) {
		}

	}

	private static void start(AdviceMode mode, Class<?> type) {
		try (LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
				AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> registry, mode));
			context.registerBean(type);
			context.refresh();
			assertThat(context.getBean(type)).isNotNull();
		}
	}

	private static void assertRefused(Class<?> type) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(AdviceMode.ASPECTJ, type))
			.havingRootCause()
			.isInstanceOf(InvalidLockedMethodException.class)
			.withMessageContaining(type.getName() + ".pay")
			.withMessageContaining("AspectJ has not woven the method")
			.withMessageContaining("-javaagent");
	}

	@Test
	void methodIsRefused() {
		assertRefused(Orders.class);
		assertRefused(Overloaded.class);
		start(AdviceMode.PROXY, Orders.class);
	}

	@Test
	void methodThatTheCompilerHasWovenForOthersIsRefused() {
		assertRefused(WovenForOthers.class);
	}

	@Test
	void objectThatIsRegisteredAsABeanIsCheckedToo() {
		try (LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
				AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> registry, AdviceMode.ASPECTJ));
			context.getBeanFactory().registerSingleton("orders", new Orders());
			assertThatExceptionOfType(InvalidLockedMethodException.class).isThrownBy(context::refresh);
		}
	}

}
