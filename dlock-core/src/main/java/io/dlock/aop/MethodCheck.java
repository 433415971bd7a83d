package io.dlock.aop;

import java.lang.reflect.Method;

/**
 * Checks that the calls of a locked method are intercepted, by proxies or by AspectJ.
 */
@FunctionalInterface
interface MethodCheck {

	/**
	 * Refuse a method that would run without its lock.
	 * @param targetClass the class of the bean
	 * @throws InvalidLockedMethodException if it cannot be intercepted
	 */
	void check(Method method, Class<?> targetClass);

}
