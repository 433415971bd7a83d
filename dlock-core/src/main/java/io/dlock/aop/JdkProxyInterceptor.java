package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Pointcut;
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
	 * The methods that are locked.
	 */
	Pointcut methods(List<Method> locked) {
		return new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return locked.contains(LockedAnnotations.specific(method, JdkProxyInterceptor.this.proxyClass));
			}

		};
	}

}
