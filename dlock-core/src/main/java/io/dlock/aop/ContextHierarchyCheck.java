package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/**
 * Checks the contexts above and below a context that has a post-processor, which does not
 * see their beans: each context needs a post-processor of its own.
 */
final class ContextHierarchyCheck {

	private static final Log logger = LogFactory.getLog(ContextHierarchyCheck.class);

	private final Class<?> postProcessor;

	private final Function<Class<?>, List<Method>> lockedMethods;

	/**
	 * Create the check.
	 * @param postProcessor the type of the post-processor
	 * @param lockedMethods finds the locked methods of a class
	 */
	ContextHierarchyCheck(Class<?> postProcessor, Function<Class<?>, List<Method>> lockedMethods) {
		this.postProcessor = postProcessor;
		this.lockedMethods = lockedMethods;
	}

	/**
	 * Refuse beans of the contexts above that are not locked.
	 * @param beans the beans of the context
	 * @throws InvalidLockedMethodException if there is one
	 */
	void checkParents(@Nullable BeanFactory beans) {
		BeanFactory parent = (beans instanceof HierarchicalBeanFactory child) ? child.getParentBeanFactory() : null;
		while (parent != null) {
			if (parent instanceof ConfigurableApplicationContext context) {
				parent = context.getBeanFactory();
			}
			if (parent instanceof ConfigurableListableBeanFactory others) {
				check(others);
			}
			parent = (parent instanceof HierarchicalBeanFactory child) ? child.getParentBeanFactory() : null;
		}
	}

	/**
	 * Refuse beans of another context that are not locked.
	 * @throws InvalidLockedMethodException if there is one
	 */
	void check(ConfigurableListableBeanFactory others) {
		if (others.getBeanNamesForType(this.postProcessor, true, false).length > 0) {
			return;
		}
		Set<String> names = new LinkedHashSet<>(List.of(others.getBeanDefinitionNames()));
		names.addAll(List.of(others.getSingletonNames()));
		for (String name : names) {
			Object bean = others.getSingleton(name);
			boolean product = bean instanceof FactoryBean;
			Class<?> type = (bean != null && !product) ? AopUtils.getTargetClass(bean) : type(others, name);
			List<Method> locked = (type != null) ? this.lockedMethods.apply(ClassUtils.getUserClass(type)) : List.of();
			if (!locked.isEmpty() && !isLocked((product && others.isSingleton(name)) ? others.getBean(name) : bean)) {
				throw refusal(name, locked);
			}
		}
	}

	/**
	 * A bean that nothing uses may have a class that is missing.
	 */
	static @Nullable Class<?> type(ConfigurableListableBeanFactory others, String name) {
		try {
			return others.getType(name, false);
		}
		catch (BeansException ex) {
			logger.debug("The type of bean '" + name + "' is unknown", ex);
			return null;
		}
	}

	/**
	 * A context may have a bean of another.
	 */
	static boolean isLocked(@Nullable Object bean) {
		return bean instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof DistributedLockedInterceptor
					|| advisor.getAdvice() instanceof JdkProxyInterceptor);
	}

	private static InvalidLockedMethodException refusal(String name, List<Method> locked) {
		return new InvalidLockedMethodException(locked.get(0),
				"would not be locked: bean '%s' is in another application context than dlock, a parent or a child of it"
					.formatted(name),
				"Import io.dlock.autoconfigure.DlockAutoConfiguration into the context of the bean as well: "
						+ "they share the LockRegistry that is further up",
				null);
	}

}
