package io.dlock.aop;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

import io.dlock.DistributedLocked;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The beans that have a proxy, those that have two, and the warnings about methods that
 * their proxies do not lock.
 */
class ProxiedBeansTests extends AbstractProxiedBeansTests {

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

	@Test
	void warnsOncePerClass() {
		start(false, (beans) -> beans.registerBean(MoreThanItsInterface.class,
				(definition) -> definition.setScope("prototype")));
		this.context.getBean(Api.class);
		this.context.getBean(Api.class);
		assertThat(warnings()).hasSize(1);
	}

}
