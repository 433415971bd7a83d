package io.dlock.aop;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.validation.beanvalidation.MethodValidationInterceptor;

import io.dlock.aop.call.ProxyAdvice;

/**
 * Validates the arguments of a call before its lock is acquired, by the method validation
 * of the proxy, which is inside the lock and the transaction. Each proxy has an
 * interceptor of its own, outside its lock.
 */
final class ArgumentValidationInterceptor implements MethodInterceptor {

	/** Whether there is bean validation. */
	static final boolean POSSIBLE = ClassUtils.isPresent("jakarta.validation.Validator",
			ArgumentValidationInterceptor.class.getClassLoader());

	/**
	 * Found at the first call of a method, because Spring adds the validation to a proxy
	 * after the lock.
	 */
	private final Map<Method, Optional<MethodValidationInterceptor>> validations = new ConcurrentHashMap<>();

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Optional<MethodValidationInterceptor> validation = this.validations.get(invocation.getMethod());
		if (validation == null) {
			validation = Optional.ofNullable(ProxyAdvice.find(invocation, MethodValidationInterceptor.class));
			this.validations.put(invocation.getMethod(), validation);
		}
		if (validation.isPresent() && invocation.getThis() != null) {
			validate(validation.get(), invocation);
		}
		return invocation.proceed();
	}

	private static void validate(MethodValidationInterceptor validation, MethodInvocation invocation) throws Throwable {
		try {
			validation.invoke(new Arguments(invocation));
		}
		catch (Valid ex) {
			// the validation proceeded to the method: the arguments are valid
		}
	}

	/**
	 * An invocation that ends as soon as its arguments have been validated.
	 *
	 * @param call the call
	 */
	private record Arguments(MethodInvocation call) implements MethodInvocation {

		@Override
		public Object proceed() throws Valid {
			throw new Valid();
		}

		@Override
		public Method getMethod() {
			return this.call.getMethod();
		}

		/**
		 * Copied, because publishers among them are replaced by ones that validate.
		 */
		@Override
		public @Nullable Object[] getArguments() {
			return this.call.getArguments().clone();
		}

		@Override
		public @Nullable Object getThis() {
			return this.call.getThis();
		}

		@Override
		public AccessibleObject getStaticPart() {
			return this.call.getStaticPart();
		}

	}

	/**
	 * The arguments are valid.
	 */
	private static final class Valid extends Exception {

		Valid() {
			super(null, null, false, false);
		}

	}

}
