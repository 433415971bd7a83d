package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

import io.dlock.DistributedLocked;

/**
 * Proxies intercept what an interface offers, or what a subclass in the same package can
 * override.
 */
final class ProxyMethodCheck implements MethodCheck {

	private static final List<String> LIFECYCLE = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	@Override
	public void check(Method method, Class<?> targetClass) {
		refuse(method, obstacle(method, targetClass));
		if (isCalledByTheContainer(method, targetClass)) {
			refuseLifecycle(method,
					"Annotate a method that is called later, such as one with @EventListener(ApplicationReadyEvent.class)");
		}
	}

	/**
	 * Refuse an annotation of the method itself. The annotation of a class is for its
	 * other methods.
	 */
	private static void refuseLifecycle(Method method, String action) {
		if (AnnotatedElementUtils.hasAnnotation(method, DistributedLocked.class)) {
			throw new InvalidLockedMethodException(method,
					"would not be locked: the container calls it when it creates or destroys the bean, without its proxy",
					action + ", use the LockRegistry in it, or set dlock.aop.mode=aspectj", null);
		}
	}

	/**
	 * Refuse methods that the definition of a bean names for its creation and its end.
	 * @param targetClass the class of the bean
	 * @throws InvalidLockedMethodException if the definition names one
	 */
	static void checkLifecycle(List<Method> locked, AbstractBeanDefinition definition, Class<?> targetClass) {
		Set<String> names = lifecycleMethods(definition, targetClass);
		for (Method method : locked) {
			if (method.getParameterCount() == 0 && names.contains(method.getName())) {
				String none = (definition.getFactoryMethodName() != null) ? " (destroyMethod = \"\" is none)" : "";
				refuseLifecycle(method, "Give the bean another init or destroy method" + none);
			}
		}
	}

	private static Set<String> lifecycleMethods(AbstractBeanDefinition definition, Class<?> targetClass) {
		Set<String> names = names(definition.getInitMethodNames());
		if (definition.isPrototype()) {
			return names;
		}
		Set<String> destroy = names(definition.getDestroyMethodNames());
		boolean inferred = destroy.remove(AbstractBeanDefinition.INFER_METHOD)
				|| (destroy.isEmpty() && AutoCloseable.class.isAssignableFrom(targetClass));
		if (inferred && !DisposableBean.class.isAssignableFrom(targetClass)) {
			Stream.of("close", "shutdown")
				.filter((name) -> ClassUtils.hasMethod(targetClass, name))
				.findFirst()
				.ifPresent(names::add);
		}
		names.addAll(destroy);
		return names;
	}

	private static Set<String> names(String @Nullable [] methods) {
		return (methods != null) ? new HashSet<>(List.of(methods)) : new HashSet<>();
	}

	private static boolean isCalledByTheContainer(Method method, Class<?> targetClass) {
		MergedAnnotations annotations = MergedAnnotations.from(method);
		return LIFECYCLE.stream().anyMatch(annotations::isPresent)
				|| (method.getParameterCount() == 0 && ((method.getName().equals("afterPropertiesSet")
						&& InitializingBean.class.isAssignableFrom(targetClass))
						|| (method.getName().equals("destroy") && DisposableBean.class.isAssignableFrom(targetClass))));
	}

	/**
	 * Refuse methods that a proxy of their class cannot intercept.
	 * @param targetClass the class of the bean
	 * @throws InvalidLockedMethodException if one cannot be overridden
	 */
	static void checkOverridable(List<Method> locked, Class<?> proxyClass, Class<?> targetClass) {
		if (!Proxy.isProxyClass(proxyClass)) {
			locked.forEach((method) -> checkOverridable(method, targetClass));
		}
	}

	private static void checkOverridable(Method method, Class<?> targetClass) {
		int modifiers = method.getModifiers();
		if (Modifier.isFinal(modifiers)) {
			refuse(method, "final");
		}
		if (!Modifier.isPublic(modifiers) && !Modifier.isProtected(modifiers)
				&& isElsewhere(method.getDeclaringClass(), targetClass)) {
			refuse(method, "package-private in another package than " + targetClass.getName());
		}
	}

	private static void refuse(Method method, @Nullable String obstacle) {
		if (obstacle != null) {
			throw new InvalidLockedMethodException(method,
					"would not be locked: it is " + obstacle + ", so that no proxy can intercept it",
					"Make it an overridable method of a bean or one of an interface, use the LockRegistry in it, or set dlock.aop.mode=aspectj",
					null);
		}
	}

	private static @Nullable String obstacle(Method method, Class<?> targetClass) {
		int modifiers = method.getModifiers();
		if (Modifier.isPrivate(modifiers)) {
			return "private";
		}
		if (Modifier.isStatic(modifiers)) {
			return "static";
		}
		if (Modifier.isFinal(targetClass.getModifiers())
				&& !isOffered(method, targetClass, ClassUtils.getAllInterfacesForClassAsSet(targetClass))) {
			return "in a final class, and no interface of it has the method";
		}
		return null;
	}

	/**
	 * Whether one of some interfaces has the method.
	 * @param targetClass the class of the bean
	 * @param interfaces the interfaces of its proxy
	 * @return whether the proxy has the method
	 */
	static boolean isOffered(Method method, Class<?> targetClass, Collection<Class<?>> interfaces) {
		return interfaces.stream()
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.anyMatch((offered) -> LockedAnnotations.specific(offered, targetClass).equals(method));
	}

	/**
	 * At run time, a package is that of one class loader.
	 */
	private static boolean isElsewhere(Class<?> declaringClass, Class<?> targetClass) {
		return !declaringClass.getPackageName().equals(targetClass.getPackageName())
				|| declaringClass.getClassLoader() != targetClass.getClassLoader();
	}

}
