package io.dlock.aop.call;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;

/**
 * The other advice of a proxy that has the advice of locks.
 */
public final class ProxyAdvice {

	private ProxyAdvice() {
	}

	/**
	 * Find the advice of a type that applies to a call.
	 * @param <T> the type
	 * @param invocation the call
	 * @param type the type
	 * @return the advice, or {@code null} if the proxy has none, or the call has no proxy
	 */
	public static <T> @Nullable T find(MethodInvocation invocation, Class<T> type) {
		if (proxy(invocation) instanceof Advised proxy) {
			for (Advisor advisor : proxy.getAdvisors()) {
				if (type.isInstance(advisor.getAdvice()) && applies(advisor, invocation)) {
					return type.cast(advisor.getAdvice());
				}
			}
		}
		return null;
	}

	/**
	 * The proxy that was called.
	 * @param invocation the call
	 * @return the proxy, or {@code null} if the call has none
	 */
	static @Nullable Object proxy(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied) ? proxied.getProxy() : null;
	}

	private static boolean applies(Advisor advisor, MethodInvocation invocation) {
		if (!(advisor instanceof PointcutAdvisor pointcutAdvisor)) {
			return true;
		}
		Pointcut pointcut = pointcutAdvisor.getPointcut();
		Class<?> targetClass = targetClass(invocation);
		Method method = invocation.getMethod();
		return pointcut.getClassFilter().matches(targetClass)
				&& pointcut.getMethodMatcher().matches(method, targetClass);
	}

	/**
	 * The class of the object whose method is called.
	 * @param invocation the call
	 * @return the class
	 */
	public static Class<?> targetClass(MethodInvocation invocation) {
		Object target = invocation.getThis();
		return (target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass();
	}

}
