package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * Warns about locked methods that callers can reach without the proxy.
 */
final class ProxyWarnings {

	private static final Log logger = LogFactory.getLog(ProxyWarnings.class);

	private final Set<ProxiedClass> proxied = ConcurrentHashMap.newKeySet();

	/**
	 * Check a bean that has a proxy, which may not intercept all callers. Warns once per
	 * class.
	 */
	void proxied(Object bean, String beanName, List<Method> locked) {
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		if (!this.proxied.add(new ProxiedClass(bean.getClass(), targetClass))) {
			return;
		}
		if (Proxy.isProxyClass(bean.getClass())) {
			List<Class<?>> interfaces = List.of(bean.getClass().getInterfaces());
			List<Method> hidden = locked.stream()
				.filter((method) -> !ProxyMethodCheck.isOffered(method, targetClass, interfaces))
				.toList();
			if (!hidden.isEmpty()) {
				logger.warn(("%s: bean '%s' has a proxy for its interfaces only, which do not declare the method, "
						+ "so that it runs without its lock. Declare it in an interface, set spring.aop.proxy-target-class=true, or dlock.aop.mode=aspectj")
					.formatted(names(hidden), beanName));
			}
		}
		List<Method> factories = locked.stream()
			.filter((method) -> AnnotatedElementUtils.hasAnnotation(method, Bean.class))
			.toList();
		if (!factories.isEmpty()) {
			logger.warn(
					"%s: the lock is held while the bean is created, not while it is used. Annotate the methods of its class instead"
						.formatted(names(factories)));
		}
	}

	/**
	 * Warn about a bean that was not proxied by dlock.
	 */
	static void notProxied(String beanName, List<Method> locked) {
		if (!locked.isEmpty()) {
			logger
				.warn(("%s: bean '%s' has no proxy, so that the method runs without its lock. The bean was created too early, "
						+ "as a post-processor or a dependency of one, or it was registered as an object. "
						+ "Move the method to another bean, use the LockRegistry in it, or set dlock.aop.mode=aspectj")
					.formatted(names(locked), beanName));
		}
	}

	private static String names(List<Method> methods) {
		return methods.stream()
			.map((method) -> DeclaredAnnotation.on(method) + " on " + ClassUtils.getQualifiedMethodName(method))
			.collect(Collectors.joining(", "));
	}

}
