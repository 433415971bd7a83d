package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;

/**
 * Adds the {@link JdkProxyInterceptor} to JDK proxies, and tells those that are locked.
 */
final class JdkProxies {

	private JdkProxies() {
	}

	/**
	 * Check a bean, and add the {@link JdkProxyInterceptor} if there are locked methods
	 * that only the interfaces of its proxy have.
	 * @param locked the locked methods of its target
	 * @param place the place of the advice
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	static void advise(Object bean, List<Method> locked, DistributedLockedInterceptor interceptor,
			LockAdvisorPlacement place) {
		if (!isJdkProxy(bean) || !(bean instanceof Advised advised) || hasAdvice(advised, JdkProxyInterceptor.class)) {
			return;
		}
		List<Method> more = interceptor.checkProxy(bean.getClass(),
				locksAlone(bean, locked) ? null : AopUtils.getTargetClass(bean));
		if (!more.isEmpty()) {
			JdkProxyInterceptor advice = new JdkProxyInterceptor(interceptor, bean.getClass());
			place.add(advised, place.advisor(advice.methods(more), advice));
		}
	}

	private static boolean isJdkProxy(Object bean) {
		return bean instanceof Advised advised && Proxy.isProxyClass(bean.getClass()) && !advised.isFrozen();
	}

	/**
	 * Whether the target of a JDK proxy has no locked methods or is such a proxy itself,
	 * or there is no target, so that the {@link JdkProxyInterceptor} is all that locks
	 * it.
	 * @param locked the locked methods of the target
	 */
	static boolean locksAlone(Object bean, List<Method> locked) {
		return isJdkProxy(bean) && (locked.isEmpty() || isAroundProxy(bean));
	}

	/**
	 * Whether the proxy has the lock already. A context may have a bean of another.
	 * @return whether it locks its target, or by itself if there is none
	 */
	static boolean isLocked(Object bean) {
		return bean instanceof Advised advised && (hasAdvice(advised, DistributedLockedInterceptor.class)
				|| (isAroundProxy(bean) && hasAdvice(advised, JdkProxyInterceptor.class)));
	}

	/**
	 * Whether the target is a JDK proxy, too, or there is none.
	 */
	private static boolean isAroundProxy(Object bean) {
		return Proxy.isProxyClass(AopUtils.getTargetClass(bean));
	}

	private static boolean hasAdvice(Advised advised, Class<? extends MethodInterceptor> advice) {
		return Arrays.stream(advised.getAdvisors()).anyMatch((advisor) -> advice.isInstance(advisor.getAdvice()));
	}

	/**
	 * The locked methods that only the interfaces of a JDK proxy have, if it has no
	 * advice for them.
	 * @param bean the bean, which was not processed
	 * @param locked the locked methods of its target
	 */
	static List<Method> unadvised(Object bean, List<Method> locked) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		if (!Proxy.isProxyClass(bean.getClass()) || targetClass == bean.getClass()
				|| (bean instanceof Advised advised && hasAdvice(advised, JdkProxyInterceptor.class))) {
			return List.of();
		}
		return LockedAnnotations.methods(bean.getClass())
			.stream()
			.filter((method) -> !locked.contains(LockedAnnotations.specific(method, targetClass)))
			.toList();
	}

}
