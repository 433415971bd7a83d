package io.dlock.aop.aspectj;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.util.ClassUtils;

/**
 * Passes the calls of woven methods to an application context: there is one aspect for
 * all contexts of a class loader. Internal to the library. Knows nothing of AspectJ,
 * which not every application has.
 */
public final class WovenMethods {

	private static final Log logger = LogFactory.getLog(WovenMethods.class);

	private static final Advice UNCONFIGURED = (call, type) -> {
		throw new IllegalStateException(("%s is @DistributedLocked and woven by AspectJ, but was called before "
				+ "an application context with locks had begun to create its beans, or after it was closed. "
				+ "Call it later, or keep AspectJ from weaving it (see docs/aspectj.md)")
			.formatted(call.getMethod()));
	};

	/** In the order in which they were configured. */
	private static final List<Context> CONTEXTS = new ArrayList<>();

	private static volatile Advice current = UNCONFIGURED;

	private static volatile boolean active;

	private WovenMethods() {
	}

	/**
	 * Register an application context.
	 * @param advice runs its woven methods, or {@code null} if its proxies do
	 * @return the context, to be closed
	 */
	public static Context configure(@Nullable Advice advice) {
		Context context = new Context(advice);
		synchronized (CONTEXTS) {
			if (active && advice != null) {
				logger.warn("Another application context of this JVM is in AspectJ mode too: "
						+ "from now on all woven @DistributedLocked methods take their locks from the one configured last");
			}
			CONTEXTS.add(context);
			choose();
		}
		return context;
	}

	/**
	 * A context in AspectJ mode comes before all others, so that every call that should
	 * be locked is.
	 */
	private static void choose() {
		Advice chosen = CONTEXTS.isEmpty() ? UNCONFIGURED : (call, type) -> call.proceed();
		boolean found = false;
		for (Context context : CONTEXTS) {
			if (context.advice != null) {
				chosen = context.advice;
				found = true;
			}
		}
		current = chosen;
		active = found;
	}

	/**
	 * Mark a call that a proxy is about to lock, so that the aspect does not lock it
	 * again.
	 * @param call the call
	 * @return the same call
	 */
	public static MethodInvocation lockedByProxy(MethodInvocation call) {
		return (active && call instanceof ProxyMethodInvocation proxied) ? new ProxiedInvocation(proxied) : call;
	}

	/**
	 * Run a call of a woven method.
	 * @param call the call
	 * @param targetClass the class to read the annotation for
	 * @return the result of the method
	 * @throws Throwable the failure of the method
	 */
	static @Nullable Object invoke(MethodInvocation call, Class<?> targetClass) throws Throwable {
		if (isOfProxy(call.getMethod())) {
			return call.proceed();
		}
		ProxiedInvocation proxied = ProxiedInvocation.around(call);
		return (proxied != null) ? proxied.arrive(call) : current.invoke(call, targetClass);
	}

	/**
	 * Whether a method belongs to a proxy. Its class may inherit
	 * {@code @DistributedLocked} from the class behind it, whose own method is woven.
	 */
	private static boolean isOfProxy(Method method) {
		Class<?> type = method.getDeclaringClass();
		return Proxy.isProxyClass(type) || type.getName().contains(ClassUtils.CGLIB_CLASS_SEPARATOR);
	}

	/**
	 * Runs a call.
	 */
	@FunctionalInterface
	public interface Advice {

		@Nullable Object invoke(MethodInvocation call, Class<?> targetClass) throws Throwable;

	}

	/**
	 * An application context.
	 */
	public static final class Context implements AutoCloseable {

		private final @Nullable Advice advice;

		private Context(@Nullable Advice advice) {
			this.advice = advice;
		}

		@Override
		public void close() {
			synchronized (CONTEXTS) {
				CONTEXTS.remove(this);
				choose();
			}
		}

	}

}
