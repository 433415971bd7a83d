package io.dlock.aop;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.dlock.DistributedLocked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;

/**
 * Beans that the post-processor has not seen, or sees too late: those created before it,
 * objects that are registered as beans, mocks, and beans of a cycle.
 */
class UnprocessedBeansTests extends AbstractProxiedBeansTests {

	static class EarlyBean implements BeanFactoryPostProcessor {

		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		}

		@DistributedLocked("'early'")
		public List<String> run() {
			return held();
		}

	}

	@Test
	void warnsOfBeanCreatedBeforePostProcessor() {
		start(EarlyBean.class);
		assertThat(this.context.getBean(EarlyBean.class).run()).isEmpty();
		assertThat(warnings()).singleElement()
			.asString()
			.contains("EarlyBean.run", "has no proxy", "created too early", "dlock.aop.mode=aspectj");
	}

	@Test
	void warnsOfObjectRegisteredAsBean() {
		start(true, (beans) -> beans.getBeanFactory().registerSingleton("registered", new Service()));
		assertThat(warnings()).singleElement().asString().contains("Service.run", "'registered'");
	}

	@Test
	void mockRunsNoMethodAndIsNotWarnedOf() {
		start(true, (beans) -> beans.getBeanFactory().registerSingleton("mock", mock(Service.class)));
		assertThat(warnings()).isEmpty();
	}

	/**
	 * A test slice leaves out beans that only the method of the mock would need.
	 */
	@Test
	void mockOfAServiceThatCannotBeLockedHereIsNotRefused() {
		start(true, (beans) -> beans.getBeanFactory().registerSingleton("mock", mock(OfAnotherRegistry.class)));
		assertThat(warnings()).isEmpty();
	}

	static class OfAnotherRegistry {

		@DistributedLocked(key = "'key'", registry = "left out")
		void run() {
		}

	}

	@Test
	void warnsOfProductOfAFactoryBeanCreatedBeforePostProcessor() {
		start(EarlyProduct.class);
		assertThat(this.context.getBean(ContextHierarchyCheckTests.Service.class).run()).isEmpty();
		assertThat(warnings()).singleElement().asString().contains("Service.run", "'product'", "created too early");
	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyProduct {

		@Bean
		static ContextHierarchyCheckTests.Factory product() {
			return new ContextHierarchyCheckTests.Factory();
		}

		@Bean
		static BeanFactoryPostProcessor early(ContextHierarchyCheckTests.Service product) {
			return (beans) -> {
			};
		}

	}

	@Test
	void beanOfACycleIsRefused() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(First.class, Second.class))
			.havingRootCause()
			.isInstanceOf(InvalidLockedMethodException.class)
			.withMessageContaining("First.run")
			.withMessageContaining("cycle of beans")
			.withMessageContaining("@Lazy");
	}

	static class First {

		@Autowired
		Second second;

		@DistributedLocked("'first'")
		public void run() {
		}

	}

	static class Second {

		@Autowired
		First first;

	}

	@Test
	void warnsOfSpyRegisteredAsBean() {
		start(true, (beans) -> beans.getBeanFactory().registerSingleton("spy", spy(new Service())));
		assertThat(warnings()).singleElement().asString().contains("Service.run", "'spy'");
	}

	private static Object proxyForApi() {
		ProxyFactory factory = new ProxyFactory(new Stages());
		factory.setInterfaces(Api.class);
		return factory.getProxy();
	}

	@Test
	void warnsOfRegisteredProxyWithMoreInterfacesThanTarget() {
		start(true, (beans) -> {
			beans.getBeanFactory().registerSingleton("registered", proxyForApi());
			beans.registerBean("processed", Object.class, UnprocessedBeansTests::proxyForApi);
		});
		assertThat(warnings()).filteredOn((warning) -> warning.contains("Api.run"))
			.singleElement()
			.asString()
			.contains("'registered'", "has no proxy");
	}

}
