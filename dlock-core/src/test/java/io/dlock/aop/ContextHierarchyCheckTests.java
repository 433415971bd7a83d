package io.dlock.aop;

import java.util.List;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Contexts with parents and children: each has a post-processor of its own or no locked
 * beans.
 */
class ContextHierarchyCheckTests {

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	private final AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext();

	private final AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.child.close();
		this.parent.close();
		this.registry.close();
	}

	static class Service {

		@DistributedLocked("'service'")
		public List<String> run() {
			return LockContext.all().stream().map(LockHandle::key).toList();
		}

	}

	static class Other {

	}

	private void postProcess(AnnotationConfigApplicationContext context) {
		context.registerBean(DistributedLockedBeanPostProcessor.class,
				() -> PostProcessors.create(() -> this.registry, AdviceMode.PROXY));
	}

	private void start() {
		this.parent.refresh();
		this.child.setParent(this.parent);
		this.child.refresh();
	}

	private static void refused(ThrowingCallable start) {
		assertThat(catchThrowable(start)).isInstanceOfSatisfying(InvalidLockedMethodException.class, (ex) -> {
			assertThat(ex.description()).contains("Service.run", "'service'", "another application context");
			assertThat(ex.action()).contains("DlockAutoConfiguration");
		});
	}

	@Test
	void childWithoutAPostProcessorIsRefused() {
		postProcess(this.parent);
		this.child.registerBean("service", Service.class);
		refused(this::start);
		assertThat(this.child.isActive()).isFalse();
	}

	@Test
	void childWithoutAPostProcessorIsRefusedBeforeItsBeansAreMade() {
		postProcess(this.parent);
		this.child.registerBeanDefinition("service",
				BeanDefinitionBuilder.rootBeanDefinition(Service.class).setScope("prototype").getBeanDefinition());
		refused(this::start);
	}

	@Test
	void childWithAPostProcessorIsLocked() {
		postProcess(this.parent);
		postProcess(this.child);
		this.child.register(Service.class);
		start();
		assertThat(this.child.getBean(Service.class).run()).containsExactly("service");
	}

	@Test
	void childWithoutLockedBeansStarts() {
		postProcess(this.parent);
		this.parent.register(Service.class);
		this.child.register(Other.class);
		assertThatNoException().isThrownBy(this::start);
	}

	/**
	 * It is a bean of both, and locked.
	 */
	@Test
	void childWithABeanOfItsParentIsLeftAlone() {
		postProcess(this.parent);
		this.parent.register(Service.class);
		this.child.registerBean("shared", Object.class, () -> this.parent.getBean(Service.class));
		assertThatNoException().isThrownBy(this::start);
	}

	@Test
	void childWithABeanOfItsParentLocksItOnce() {
		postProcess(this.parent);
		postProcess(this.child);
		this.parent.register(Service.class);
		this.child.registerBean("shared", Service.class, () -> this.parent.getBean(Service.class));
		start();
		assertThat(this.child.getBean("shared", Service.class).run()).containsExactly("service");
	}

	@Test
	void parentWithoutAPostProcessorIsRefused() {
		this.parent.registerBean("service", Service.class);
		postProcess(this.child);
		refused(this::start);
	}

	@Test
	void parentOfAParentIsRefusedAsWell() {
		try (AnnotationConfigApplicationContext root = new AnnotationConfigApplicationContext()) {
			root.registerBean("service", Service.class);
			root.refresh();
			this.parent.setParent(root);
			postProcess(this.child);
			refused(this::start);
		}
	}

	static class Factory implements FactoryBean<Service> {

		@Override
		public Service getObject() {
			return new Service();
		}

		@Override
		public Class<?> getObjectType() {
			return Service.class;
		}

	}

	@Test
	void productOfAFactoryIsRefusedInAChild() {
		postProcess(this.parent);
		this.child.registerBean("service", Factory.class);
		refused(this::start);
	}

	@Test
	void productOfAFactoryIsRefusedInAParent() {
		this.parent.registerBean("service", Factory.class);
		postProcess(this.child);
		refused(this::start);
	}

	/**
	 * Spring accepts it in a context that does not look for listeners.
	 */
	@Test
	void childWithALazyBeanWhoseClassIsMissingStarts() {
		postProcess(this.parent);
		this.parent.refresh();
		try (GenericApplicationContext other = new GenericApplicationContext(this.parent)) {
			other.registerBeanDefinition("missing",
					BeanDefinitionBuilder.genericBeanDefinition("no.such.Service")
						.setLazyInit(true)
						.getBeanDefinition());
			assertThatNoException().isThrownBy(other::refresh);
		}
	}

	/**
	 * It has no definition.
	 */
	@Test
	void objectThatIsRegisteredInAParentIsRefused() {
		this.parent.getBeanFactory().registerSingleton("service", new Service());
		postProcess(this.child);
		refused(this::start);
	}

}
