package io.dlock.aop;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.validation.beanvalidation.MethodValidationInterceptor;

/**
 * Lets the method validation of a proxy, which comes after the lock and in the
 * transaction, look at the arguments before the lock is taken.
 */
final class ArgumentValidation {

	private static final boolean POSSIBLE = ClassUtils.isPresent("jakarta.validation.Validator",
			ArgumentValidation.class.getClassLoader());

	private ArgumentValidation() {
	}

	/**
	 * Validate the arguments of a call.
	 * @param invocation the call
	 * @throws Throwable what the validation throws if they are not valid
	 */
	static void check(MethodInvocation invocation) throws Throwable {
		if (POSSIBLE) {
			Interceptor.check(invocation);
		}
	}

	/**
	 * Is loaded only where it can be.
	 */
	private static final class Interceptor {

		private static void check(MethodInvocation invocation) throws Throwable {
			MethodValidationInterceptor validation = ProxyAdvice.find(invocation, MethodValidationInterceptor.class);
			if (validation != null && invocation.getThis() != null) {
				try {
					validation.invoke(new Arguments(invocation));
				}
				catch (Valid ex) {
					// what it would do next is to run the method
				}
			}
		}

	}

	/**
	 * A call that ends when its arguments have been seen.
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
