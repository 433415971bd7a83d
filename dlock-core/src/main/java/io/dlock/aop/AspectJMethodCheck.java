package io.dlock.aop;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.util.ClassUtils;

/**
 * Detects weaving: AspectJ moves the body of a woven method into a separate static
 * method.
 */
final class AspectJMethodCheck implements MethodCheck {

	private static final Log logger = LogFactory.getLog(AspectJMethodCheck.class);

	private static final String BODY = "_aroundBody";

	private static final String ASPECT = "io/dlock/aop/aspectj/DistributedLockedAspect";

	@Override
	public void check(Method method, Class<?> targetClass) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			throw new InvalidLockedMethodException(method, "is a suspending function, which only a proxy can lock",
					"Set dlock.aop.mode=proxy, or lock a function that returns a Mono", null);
		}
		if (!isWoven(method)) {
			throw new InvalidLockedMethodException(method,
					"would not be locked: dlock.aop.mode is aspectj, but AspectJ has not woven the method",
					"Start the JVM with -javaagent:aspectjweaver.jar (or weave at compile time, with dlock-core as an aspect library), "
							+ "let META-INF/aop.xml include the class, and annotate the method or class itself instead of a method it overrides; "
							+ "or set dlock.aop.mode=proxy",
					null);
		}
	}

	private static boolean isWoven(Method method) {
		Class<?> type = method.getDeclaringClass();
		return Arrays.stream(type.getDeclaredMethods()).anyMatch((candidate) -> isBody(candidate, method))
				&& !isCompiledForOthers(type);
	}

	/**
	 * The body has the arguments of the method, after the object itself unless the method
	 * is static.
	 */
	private static boolean isBody(Method candidate, Method method) {
		if (!Modifier.isStatic(candidate.getModifiers()) || !candidate.getName().startsWith(method.getName() + BODY)) {
			return false;
		}
		int first = Modifier.isStatic(method.getModifiers()) ? 0 : 1;
		Class<?>[] types = candidate.getParameterTypes();
		int last = first + method.getParameterCount();
		return types.length >= last
				&& Arrays.equals(Arrays.copyOfRange(types, first, last), method.getParameterTypes());
	}

	/**
	 * The file of a class that was woven before it was loaded names the aspects.
	 */
	private static boolean isCompiledForOthers(Class<?> type) {
		try (InputStream file = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
			String content = (file != null) ? new String(file.readAllBytes(), StandardCharsets.ISO_8859_1) : "";
			return content.contains(BODY) && !content.contains(ASPECT);
		}
		catch (IOException ex) {
			logger.debug("The class file of " + type.getName() + " cannot be read", ex);
			return false;
		}
	}

}
