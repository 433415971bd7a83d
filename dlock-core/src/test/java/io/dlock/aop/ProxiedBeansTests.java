package io.dlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;

/**
 * The beans that have a proxy, those that have two, and the warnings about those that
 * have none.
 */
class ProxiedBeansTests {

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final CapturedLog log = CapturedLog.of(ProxyWarnings.class);

	@AfterEach
	void close() {
		this.log.close();
		this.context.close();
		this.registry.close();
	}

	private void start(boolean proxyTargetClass, Consumer<AnnotationConfigApplicationContext> beans) {
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry, AdviceMode.PROXY);
		postProcessor.setProxyTargetClass(proxyTargetClass);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		beans.accept(this.context);
		this.context.refresh();
	}

	private void start(Class<?>... types) {
		start(true, (beans) -> beans.register(types));
	}

	private List<String> warnings() {
		return this.log.messages();
	}

	private static List<String> held() {
		return LockContext.all().stream().map(LockHandle::key).toList();
	}

	interface Api<T> {

		@DistributedLocked("#p0")
		List<String> run(T key);

	}

	static class Service implements Api<String> {

		@Override
		public List<String> run(String key) {
			return held();
		}

	}

	@ParameterizedTest
	@SuppressWarnings("unchecked")
	@ValueSource(booleans = { false, true })
	void methodThatIsAnnotatedInAnInterfaceIsLocked(boolean proxyTargetClass) {
		start(proxyTargetClass, (beans) -> beans.register(Service.class));
		Api<String> service = this.context.getBean(Api.class);
		assertThat(AopUtils.isCglibProxy(service)).isEqualTo(proxyTargetClass);
		assertThat(service.run("key")).containsExactly("key");
		assertThat(warnings()).isEmpty();
	}

	static class MoreThanItsInterface extends Service {

		@DistributedLocked
		public void more() {
		}

	}

	@Test
	void warnsOfMethodMissingInInterfacesOfProxy() {
		start(false, (beans) -> beans.register(MoreThanItsInterface.class));
		assertThat(warnings()).singleElement()
			.asString()
			.contains("MoreThanItsInterface.more", "spring.aop.proxy-target-class=true", "dlock.aop.mode=aspectj")
			.doesNotContain("MoreThanItsInterface.run");
	}

	@Configuration
	static class EnhancedConfiguration {

		@Bean
		Service service() {
			return new Service();
		}

		@DistributedLocked
		public List<String> keys() {
			return held();
		}

	}

	@Test
	void defaultLockOfAnEnhancedClassIsNamedAfterTheClassInTheSource() {
		start(EnhancedConfiguration.class);
		assertThat(this.context.getBean(EnhancedConfiguration.class).keys())
			.containsExactly(EnhancedConfiguration.class.getName() + "#keys()");
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoNames {

		@Bean
		Service service() {
			return new Service();
		}

		@Bean
		Object otherName(Service service) {
			return service;
		}

	}

	@Test
	void proxyThatIsABeanByTwoNamesLocksOnce() {
		start(TwoNames.class);
		assertThat(this.context.getBean("otherName", Service.class).run("key")).containsExactly("key");
		assertThat(this.context.getBean("service", Service.class).run("key")).containsExactly("key");
	}

	static class Stages {

		@DistributedLocked("'stage'")
		public CompletableFuture<List<String>> stage() {
			return CompletableFuture.completedFuture(held());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ProxyOfProxy {

		@Bean
		Service service() {
			return new Service();
		}

		@Bean
		Stages stages() {
			return new Stages();
		}

		@Bean
		Object outerService(Service service) {
			return around(service);
		}

		@Bean
		Object outerStages(Stages stages) {
			return around(stages);
		}

		private static Object around(Object bean) {
			ProxyFactory factory = new ProxyFactory(bean);
			factory.setProxyTargetClass(true);
			return factory.getProxy();
		}

	}

	@Test
	void proxyOfAProxyLocksInsideItsOwnLock() {
		start(ProxyOfProxy.class);
		Service service = this.context.getBean("outerService", Service.class);
		assertThat(service.run("key")).containsOnly("key");
		assertThat(held()).isEmpty();
		assertThat(this.registry.find("key")).isEmpty();
		assertThat(this.context.getBean("outerStages", Stages.class).stage().join()).containsOnly("stage");
		assertThat(this.registry.find("stage")).isEmpty();
	}

	/**
	 * As the creators of proxies of Spring do that come after all others.
	 */
	static class LateProxies implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Service)) {
				return bean;
			}
			ProxyFactory factory = new ProxyFactory(bean);
			factory.setProxyTargetClass(true);
			return factory.getProxy();
		}

	}

	@Test
	void lockedProxyBehindAnotherIsNoReasonForAWarning() {
		start(LateProxies.class, Service.class);
		assertThat(this.context.getBean(Service.class).run("key")).containsExactly("key");
		assertThat(warnings()).isEmpty();
	}

	@Configuration(proxyBeanMethods = false)
	static class Scoped {

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Service service() {
			return new Service();
		}

	}

	@Test
	void scopedProxyLocksOnce() {
		start(Scoped.class);
		assertThat(this.context.getBean("service", Service.class).run("key")).containsExactly("key");
		assertThat(warnings()).isEmpty();
	}

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
		assertThat(this.context.getBean(Service.class).run("key")).isEmpty();
		assertThat(warnings()).singleElement().asString().contains("Service.run", "'product'", "created too early");
	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyProduct {

		@Bean
		static FactoryBean<Service> product() {
			return new FactoryBean<>() {

				@Override
				public Service getObject() {
					return new Service();
				}

				@Override
				public Class<?> getObjectType() {
					return Service.class;
				}

			};
		}

		@Bean
		static BeanFactoryPostProcessor early(Service product) {
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

	@Configuration
	static class LockedConfiguration {

		@DistributedLocked("'configuration'")
		List<String> keys() {
			return held();
		}

		@Bean
		@DistributedLocked("'bean'")
		Service service() {
			return new Service();
		}

	}

	@Test
	void configurationClassIsLockedAsAnyBeanAndABeanMethodIsWarnedOf() {
		start(LockedConfiguration.class);
		assertThat(this.context.getBean(LockedConfiguration.class).keys()).containsExactly("configuration");
		assertThat(warnings()).singleElement()
			.asString()
			.contains("LockedConfiguration.service", "while the bean is created")
			.doesNotContain("keys");
	}

	@Test
	void noWarningForOtherBeans() {
		start(Service.class, Stages.class);
		assertThat(warnings()).isEmpty();
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
			beans.registerBean("processed", Object.class, ProxiedBeansTests::proxyForApi);
		});
		assertThat(warnings()).filteredOn((warning) -> warning.contains("Api.run"))
			.singleElement()
			.asString()
			.contains("'registered'", "has no proxy");
	}

	@Test
	void warnsOncePerClass() {
		start(false, (beans) -> beans.registerBean(MoreThanItsInterface.class,
				(definition) -> definition.setScope("prototype")));
		this.context.getBean(Api.class);
		this.context.getBean(Api.class);
		assertThat(warnings()).hasSize(1);
	}

}
