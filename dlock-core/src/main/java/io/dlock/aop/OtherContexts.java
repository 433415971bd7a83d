package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The contexts above and below one that has a post-processor. It sees none of their
 * beans: they need one each.
 */
final class OtherContexts {

	private final Function<Class<?>, List<Method>> lockedMethods;

	/**
	 * Create it.
	 * @param lockedMethods finds the locked methods of a class
	 */
	OtherContexts(Function<Class<?>, List<Method>> lockedMethods) {
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
	 * @param others its beans
	 * @throws InvalidLockedMethodException if there is one
	 */
	void check(ConfigurableListableBeanFactory others) {
		if (others.getBeanNamesForType(DistributedLockedBeanPostProcessor.class, true, false).length > 0) {
			return;
		}
		Set<String> names = new LinkedHashSet<>(List.of(others.getBeanDefinitionNames()));
		names.addAll(List.of(others.getSingletonNames()));
		for (String name : names) {
			Object bean = others.getSingleton(name);
			Class<?> type = (bean != null) ? AopUtils.getTargetClass(bean) : others.getType(name, false);
			if (type != null && !isLocked(bean)) {
				check(name, this.lockedMethods.apply(type));
			}
		}
	}

	/**
	 * A context may have a bean of another.
	 */
	private static boolean isLocked(@Nullable Object bean) {
		return bean instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof DistributedLockedInterceptor
					|| advisor.getAdvice() instanceof LockedProxy);
	}

	private static void check(String name, List<Method> locked) {
		if (!locked.isEmpty()) {
			throw new InvalidLockedMethodException(locked.get(0),
					"would not be locked: bean '%s' is in another application context than dlock, a parent or a child of it"
						.formatted(name),
					"Import io.dlock.autoconfigure.DlockAutoConfiguration into the context of the bean as well: "
							+ "they share the LockRegistry that is further up",
					null);
		}
	}

}
