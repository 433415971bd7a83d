package io.dlock.aop;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/**
 * Calls the fallback of a locked method.
 */
final class Fallbacks {

	private Fallbacks() {
	}

	/**
	 * Call the fallback with the arguments of the call.
	 * @param fallback the fallback
	 * @param invocation the call
	 * @return what it returned
	 * @throws Throwable what it threw
	 */
	static @Nullable Object call(Method fallback, MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		if (!fallback.getDeclaringClass().isInstance(target)) {
			// the method is one of the proxy, whose target may be something else
			Object proxy = ProxyAdvice.proxy(invocation);
			target = (proxy != null) ? proxy : target;
		}
		return AopUtils.invokeJoinpointUsingReflection(target, fallback, invocation.getArguments());
	}

}
