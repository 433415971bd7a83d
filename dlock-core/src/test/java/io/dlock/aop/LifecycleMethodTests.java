package io.dlock.aop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Methods that the definition of a bean names for its creation and its end, which the
 * container calls without the proxy.
 */
class LifecycleMethodTests {

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.context.close();
		this.registry.close();
	}

	private void start() {
		this.context.registerBean(DistributedLockedBeanPostProcessor.class,
				() -> PostProcessors.create(() -> this.registry, AdviceMode.PROXY));
		this.context.refresh();
	}

	private void assertRefused(String method) {
		assertRefused(method, false);
	}

	private void assertRefused(String method, boolean ofBeanMethod) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(this::start)
			.satisfies((ex) -> assertThat(ex.getMostSpecificCause())
				.isInstanceOfSatisfying(InvalidLockedMethodException.class, (invalid) -> {
					assertThat(invalid.description()).contains(method, "without its proxy");
					assertThat(invalid.action()).contains("another init or destroy method");
					assertThat(invalid.action().contains("destroyMethod")).isEqualTo(ofBeanMethod);
				}));
	}

	static class Migrator implements AutoCloseable {

		@DistributedLocked("'migration'")
		public void migrate() {
		}

		@DistributedLocked("'drain'")
		public void drain() {
		}

		@DistributedLocked("'drain'")
		public boolean drain(String queue) {
			return LockHandle.current().isPresent();
		}

		@Override
		@DistributedLocked("'close'")
		public void close() {
		}

	}

	static class Consumer {

		@DistributedLocked("'shutdown'")
		public boolean shutdown() {
			return LockHandle.current().isPresent();
		}

	}

	static class Disposable extends Migrator implements DisposableBean {

		@Override
		public void destroy() {
		}

	}

	enum Named {

		INIT {
			@Override
			String in(AbstractBeanDefinition definition) {
				definition.setInitMethodName("migrate");
				definition.setDestroyMethodName("");
				return "Migrator.migrate";
			}
		},

		DESTROY {
			@Override
			String in(AbstractBeanDefinition definition) {
				definition.setDestroyMethodName("drain");
				return "Migrator.drain";
			}
		},

		INFERRED {
			@Override
			String in(AbstractBeanDefinition definition) {
				definition.setDestroyMethodName(AbstractBeanDefinition.INFER_METHOD);
				return "Migrator.close";
			}
		},

		CLOSEABLE {
			@Override
			String in(AbstractBeanDefinition definition) {
				return "Migrator.close";
			}
		};

		abstract String in(AbstractBeanDefinition definition);

	}

	@ParameterizedTest
	@EnumSource
	void methodThatADefinitionNamesIsRefused(Named named) {
		AbstractBeanDefinition definition = new RootBeanDefinition(Migrator.class);
		String method = named.in(definition);
		this.context.registerBeanDefinition("migrator", definition);
		assertRefused(method);
	}

	@Test
	void shutdownIsInferredIfThereIsNoClose() {
		AbstractBeanDefinition definition = new RootBeanDefinition(Consumer.class);
		definition.setDestroyMethodName(AbstractBeanDefinition.INFER_METHOD);
		this.context.registerBeanDefinition("consumer", definition);
		assertRefused("Consumer.shutdown");
	}

	@Configuration(proxyBeanMethods = false)
	static class Called {

		@Bean
		Migrator migrator() {
			return new Migrator();
		}

	}

	@Test
	void beanMethodMayDisableItsDestroyMethod() {
		this.context.register(Called.class);
		assertRefused("Migrator.close", true);
	}

	static class Hidden {

		@DistributedLocked("'shutdown'")
		protected boolean shutdown() {
			return LockHandle.current().isPresent();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NotCalled {

		@Bean
		Hidden hidden() {
			return new Hidden();
		}

		@Bean(destroyMethod = "")
		Migrator notDestroyed() {
			return new Migrator();
		}

		@Bean
		@Scope("prototype")
		Migrator prototype() {
			return new Migrator();
		}

		@Bean
		Disposable disposable() {
			return new Disposable();
		}

	}

	@Test
	void methodThatTheContainerDoesNotCallIsLocked() {
		this.context.registerBean("consumer", Consumer.class);
		this.context.register(NotCalled.class);
		start();
		assertThat(this.context.getBean(Consumer.class).shutdown()).isTrue();
		assertThat(this.context.getBean(Hidden.class).shutdown()).isTrue();
		assertThat(this.context.getBean("notDestroyed", Migrator.class).drain("queue")).isTrue();
		assertThat(this.context.getBean("prototype", Migrator.class).drain("queue")).isTrue();
	}

}
