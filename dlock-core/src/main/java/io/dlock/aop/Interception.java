package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.springframework.aop.framework.Advised;
import org.springframework.context.annotation.AdviceMode;

/**
 * How calls of locked methods are intercepted: by proxies or by AspectJ.
 */
@FunctionalInterface
interface Interception {

	/**
	 * Refuse a method that would run without its lock.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @throws InvalidLockedMethodException if it cannot be intercepted
	 */
	void check(Method method, Class<?> targetClass);

	/**
	 * How calls of a bean are intercepted. A proxy that takes advice locks in both modes.
	 * @param mode the mode of the post-processor
	 * @param targetClass the class of the bean
	 * @return by proxies or by AspectJ
	 */
	static Interception of(AdviceMode mode, Class<?> targetClass) {
		boolean advisable = Proxy.isProxyClass(targetClass) && Advised.class.isAssignableFrom(targetClass);
		return (mode == AdviceMode.ASPECTJ && !advisable) ? new WovenInterception() : new ProxyInterception();
	}

}
