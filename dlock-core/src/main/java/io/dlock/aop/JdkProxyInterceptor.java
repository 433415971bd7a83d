package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

import io.dlock.aop.aspectj.WovenMethods;

/**
 * Locks methods that only the interfaces of a JDK proxy have, and not the class of its
 * target, if there is one at all: HTTP clients, repositories.
 *
 * @param interceptor the interceptor
 * @param proxyClass the class of the proxy
 */
record JdkProxyInterceptor(DistributedLockedInterceptor interceptor, Class<?> proxyClass) implements MethodInterceptor {

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return this.interceptor.invoke(WovenMethods.lockedByProxy(invocation), this.proxyClass);
	}

	/**
	 * Check a bean and, if there are such methods, add the advice.
	 * @param locked the locked methods of its target
	 * @param place the place of the advice
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	static void advise(Object bean, List<Method> locked, DistributedLockedInterceptor interceptor,
			LockAdvisorPlacement place) {
		if (!isJdkProxy(bean) || !(bean instanceof Advised advised) || has(advised, JdkProxyInterceptor.class)) {
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
	 * Whether the methods of the target need no advice, or there is no target.
	 * @param locked the locked methods of the target
	 * @return whether this advice is all
	 */
	static boolean locksAlone(Object bean, List<Method> locked) {
		return isJdkProxy(bean) && (locked.isEmpty() || isAroundProxy(bean));
	}

	/**
	 * Whether the proxy has the lock already. A context may have a bean of another.
	 * @return whether it locks its target, or by itself if there is none
	 */
	static boolean isLocked(Object bean) {
		return bean instanceof Advised advised && (has(advised, DistributedLockedInterceptor.class)
				|| (isAroundProxy(bean) && has(advised, JdkProxyInterceptor.class)));
	}

	/**
	 * Whether the target is a JDK proxy, too, or there is none.
	 */
	private static boolean isAroundProxy(Object bean) {
		return Proxy.isProxyClass(AopUtils.getTargetClass(bean));
	}

	private static boolean has(Advised advised, Class<? extends MethodInterceptor> advice) {
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
				|| (bean instanceof Advised advised && has(advised, JdkProxyInterceptor.class))) {
			return List.of();
		}
		return LockedAnnotations.methods(bean.getClass())
			.stream()
			.filter((method) -> !locked.contains(LockedAnnotations.specific(method, targetClass)))
			.toList();
	}

	private Pointcut methods(List<Method> locked) {
		return new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return locked.contains(LockedAnnotations.specific(method, JdkProxyInterceptor.this.proxyClass));
			}

		};
	}

}
