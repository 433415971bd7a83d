package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

import io.dlock.aop.aspectj.WovenMethods;
import io.dlock.aop.call.LockedMethodInvoker;
import io.dlock.aop.call.ProxyAdvice;

/**
 * Runs a call of a locked method under its lock.
 */
final class DistributedLockedInterceptor implements MethodInterceptor {

	private final LockedOperations operations;

	private final LockedMethodInvoker invoker;

	DistributedLockedInterceptor(LockedOperations operations, LockedMethodInvoker invoker) {
		this.operations = operations;
		this.invoker = invoker;
	}

	/**
	 * Check all locked methods of a class.
	 * @param targetClass the class of a bean
	 * @return the locked methods
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	List<Method> check(Class<?> targetClass) {
		return LockedAnnotations.isCandidate(targetClass) ? this.operations.check(targetClass) : List.of();
	}

	/**
	 * Check the locked methods of the interfaces of a proxy.
	 * @param proxyClass the class of a JDK proxy
	 * @param targetClass the class of its target, if that is advised by itself, or
	 * {@code null}
	 * @return the locked methods that are not handled by the advice of the target
	 * @throws InvalidLockedMethodException if one cannot be honoured
	 */
	List<Method> checkProxy(Class<?> proxyClass, @Nullable Class<?> targetClass) {
		return this.operations.checkProxy(proxyClass, targetClass);
	}

	/**
	 * Whether there is a method that may be part of a reactive transaction.
	 * @return whether there is one, among those checked
	 */
	boolean hasReactive() {
		return this.operations.hasReactive();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return invoke(WovenMethods.lockedByProxy(invocation), ProxyAdvice.targetClass(invocation));
	}

	@Nullable Object invoke(MethodInvocation invocation, Class<?> targetClass) throws Throwable {
		return this.invoker.invoke(this.operations.get(invocation.getMethod(), targetClass), invocation);
	}

}
