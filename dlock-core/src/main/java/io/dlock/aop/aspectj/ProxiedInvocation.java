package io.dlock.aop.aspectj;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * A call that a proxy has locked and that is on its way to a woven method, which is not
 * to lock it again.
 */
final class ProxiedInvocation implements ProxyMethodInvocation {

	private static final ThreadLocal<@Nullable ProxiedInvocation> UNDER_WAY = new ThreadLocal<>();

	private final ProxyMethodInvocation call;

	/**
	 * Create the invocation.
	 * @param call the call that a proxy is about to lock
	 */
	ProxiedInvocation(ProxyMethodInvocation call) {
		this.call = call;
	}

	/**
	 * The locked call that has come to a woven method now. A doubtful call is locked
	 * again, which does no harm.
	 * @param woven the call of the woven method
	 * @return the same call of the proxy, or {@code null}
	 */
	static @Nullable ProxiedInvocation around(MethodInvocation woven) {
		ProxiedInvocation call = UNDER_WAY.get();
		return (call != null && call.isSame(woven)) ? call : null;
	}

	private boolean isSame(MethodInvocation woven) {
		return woven.getThis() != null && woven.getThis() == getThis()
				&& woven.getMethod().getName().equals(getMethod().getName())
				&& haveSame(woven.getMethod().getParameterTypes(), woven.getArguments(), getArguments());
	}

	private static boolean haveSame(Class<?>[] types, @Nullable Object[] arguments, @Nullable Object[] others) {
		if (arguments.length != others.length) {
			return false;
		}
		for (int i = 0; i < arguments.length; i++) {
			Object argument = arguments[i];
			if (argument != others[i] && (!types[i].isPrimitive() || argument == null || !argument.equals(others[i]))) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Run the method itself. Calls from within it are calls of their own.
	 * @param woven the call of the woven method
	 * @return the result of the method
	 * @throws Throwable the failure of the method
	 */
	@Nullable Object arrive(MethodInvocation woven) throws Throwable {
		UNDER_WAY.remove();
		try {
			return woven.proceed();
		}
		finally {
			UNDER_WAY.set(this);
		}
	}

	/**
	 * May be called more than once, and on any thread.
	 */
	@Override
	public @Nullable Object proceed() throws Throwable {
		ProxiedInvocation outer = UNDER_WAY.get();
		UNDER_WAY.set(this);
		try {
			return this.call.invocableClone().proceed();
		}
		finally {
			if (outer != null) {
				UNDER_WAY.set(outer);
			}
			else {
				UNDER_WAY.remove();
			}
		}
	}

	/**
	 * Each {@link #proceed()} uses a clone already.
	 */
	@Override
	public MethodInvocation invocableClone() {
		return this;
	}

	@Override
	public MethodInvocation invocableClone(@Nullable Object... arguments) {
		return new ProxiedInvocation((ProxyMethodInvocation) this.call.invocableClone(arguments));
	}

	@Override
	public Object getProxy() {
		return this.call.getProxy();
	}

	@Override
	public void setArguments(@Nullable Object... arguments) {
		this.call.setArguments(arguments);
	}

	@Override
	public void setUserAttribute(String key, @Nullable Object value) {
		this.call.setUserAttribute(key, value);
	}

	@Override
	public @Nullable Object getUserAttribute(String key) {
		return this.call.getUserAttribute(key);
	}

	@Override
	public Method getMethod() {
		return this.call.getMethod();
	}

	@Override
	public @Nullable Object[] getArguments() {
		return this.call.getArguments();
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
