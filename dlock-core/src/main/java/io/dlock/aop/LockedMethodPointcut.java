package io.dlock.aop;

import java.lang.reflect.Method;

import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Matches locked methods.
 */
final class LockedMethodPointcut extends StaticMethodMatcherPointcut {

	LockedMethodPointcut() {
		setClassFilter(LockedAnnotations::isCandidate);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return LockedAnnotations.isLocked(method, targetClass);
	}

}
