package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import org.jspecify.annotations.Nullable;

/**
 * Proxies intercept what a subclass in the same package can override.
 */
final class ProxyInterception implements Interception {

	@Override
	public void check(Method method, Class<?> targetClass) {
		String obstacle = obstacle(method, targetClass);
		if (obstacle != null) {
			throw new InvalidLockedMethodException(method,
					"would not be locked: it is " + obstacle + ", so that no proxy can intercept it",
					"Make it an overridable method of a bean, use the LockRegistry in it, or set dlock.aop.mode=aspectj",
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
		if (Modifier.isFinal(modifiers)) {
			return "final";
		}
		if (Modifier.isFinal(targetClass.getModifiers())) {
			return "in a final class";
		}
		if (!Modifier.isPublic(modifiers) && !Modifier.isProtected(modifiers)
				&& isElsewhere(method.getDeclaringClass(), targetClass)) {
			return "package-private in another package than " + targetClass.getName();
		}
		return null;
	}

	/**
	 * At run time, a package is that of one class loader.
	 */
	private static boolean isElsewhere(Class<?> declaringClass, Class<?> targetClass) {
		return !declaringClass.getPackageName().equals(targetClass.getPackageName())
				|| declaringClass.getClassLoader() != targetClass.getClassLoader();
	}

}
