package io.dlock.aop.aspectj;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * A call of a woven method. It can proceed any number of times, on any thread.
 */
final class WovenInvocation implements MethodInvocation {

	private final ProceedingJoinPoint call;

	private final Method method;

	private final @Nullable Object[] arguments;

	WovenInvocation(ProceedingJoinPoint call) {
		this.call = call;
		this.method = ((MethodSignature) call.getSignature()).getMethod();
		this.arguments = call.getArgs();
	}

	/**
	 * The class to read the annotation for: that of the object, as with a proxy. But if a
	 * method is called that this class overrides, by {@code super}, its own annotation
	 * counts.
	 */
	Class<?> targetClass() {
		Object target = getThis();
		if (target == null) {
			return this.method.getDeclaringClass();
		}
		Class<?> type = ClassUtils.getUserClass(target);
		return AopUtils.getMostSpecificMethod(this.method, type).equals(this.method) ? type
				: this.method.getDeclaringClass();
	}

	@Override
	public Method getMethod() {
		return this.method;
	}

	@Override
	public @Nullable Object[] getArguments() {
		return this.arguments;
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		return this.call.proceed();
	}

	@Override
	public @Nullable Object getThis() {
		return this.call.getThis();
	}

	@Override
	public AccessibleObject getStaticPart() {
		return this.method;
	}

}
