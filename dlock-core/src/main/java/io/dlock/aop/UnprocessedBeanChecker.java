package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.util.ClassUtils;

/**
 * Finds locked beans that the post-processor has not seen: those created before it, and
 * those of other contexts.
 *
 * @param postProcessor the type of the post-processor
 * @param interceptor the interceptor of the post-processor
 * @param mode the mode of the post-processor
 */
record UnprocessedBeanChecker(Class<?> postProcessor, DistributedLockedInterceptor interceptor, AdviceMode mode) {

	/**
	 * Check the context of the post-processor and those above it.
	 * @throws InvalidLockedMethodException if a method cannot be honoured, or is not
	 * locked in a context above
	 */
	void check(@Nullable BeanFactory beans) {
		if (this.mode == AdviceMode.PROXY) {
			new ContextHierarchyCheck(this.postProcessor, this.interceptor::check).checkParents(beans);
		}
		if (beans instanceof ConfigurableListableBeanFactory singletons) {
			for (String beanName : singletons.getSingletonNames()) {
				Object bean = singletons.getSingleton(beanName);
				Object used = (bean instanceof FactoryBean) ? product(singletons, beanName) : bean;
				// the proxy of a scope has a target that locks
				if (used != null && !(used instanceof AopInfrastructureBean) && !isLocked(used)) {
					check(used, beanName);
				}
			}
		}
	}

	private static @Nullable Object product(ConfigurableListableBeanFactory beans, String beanName) {
		Class<?> type = ContextHierarchyCheck.type(beans, beanName);
		boolean lazy = beans.containsBeanDefinition(beanName) && beans.getBeanDefinition(beanName).isLazyInit();
		return (type != null && !lazy && !LockedAnnotations.methods(type).isEmpty() && beans.isSingleton(beanName))
				? beans.getBean(beanName) : null;
	}

	/**
	 * Another proxy may be around the one that locks.
	 */
	private static boolean isLocked(Object bean) {
		Object target = AopProxyUtils.getSingletonTarget(bean);
		return JdkProxies.isLocked(bean) || (target != null && isLocked(target));
	}

	private void check(Object bean, String beanName) {
		Class<?> type = AopUtils.getTargetClass(bean);
		if (LockedAnnotations.methods(type).isEmpty() || isMock(bean)) {
			return;
		}
		List<Method> locked = this.interceptor.check(type);
		if (this.mode == AdviceMode.PROXY) {
			ProxyWarnings.notProxied(beanName, locked);
		}
		ProxyWarnings.notProxied(beanName, JdkProxies.unadvised(bean, locked));
	}

	/**
	 * A mock of a test runs no method that a lock could protect, unless it is a spy.
	 */
	private static boolean isMock(Object bean) {
		try {
			ClassLoader loader = bean.getClass().getClassLoader();
			Object details = ClassUtils.forName("org.mockito.Mockito", loader)
				.getMethod("mockingDetails", Object.class)
				.invoke(null, bean);
			Class<?> type = ClassUtils.forName("org.mockito.MockingDetails", loader);
			return Boolean.TRUE.equals(type.getMethod("isMock").invoke(details))
					&& Boolean.FALSE.equals(type.getMethod("isSpy").invoke(details));
		}
		catch (ReflectiveOperationException | LinkageError ex) {
			return false;
		}
	}

	/**
	 * Check a context that has started.
	 * @param started the context, which may be a child
	 * @param beans the bean factory of the post-processor
	 * @throws InvalidLockedMethodException if a method of a child is not locked
	 */
	void checkChild(ApplicationContext started, @Nullable BeanFactory beans) {
		if (this.mode == AdviceMode.PROXY && started instanceof ConfigurableApplicationContext child
				&& child.getBeanFactory() != beans) {
			new ContextHierarchyCheck(this.postProcessor, this.interceptor::check).check(child.getBeanFactory());
		}
	}

}
