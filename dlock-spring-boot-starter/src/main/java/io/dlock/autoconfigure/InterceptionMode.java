package io.dlock.autoconfigure;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * What {@code dlock.aop.mode} says. Read from the environment, because the post-processor
 * that needs it is created before the properties are.
 */
final class InterceptionMode {

	private static final String PROPERTY = "dlock.aop.mode";

	private static final String ASPECTJ = "org.aspectj.lang.ProceedingJoinPoint";

	private InterceptionMode() {
	}

	/**
	 * The mode.
	 * @param environment the properties
	 * @param classLoader where AspectJ would have to be
	 * @return the mode
	 * @throws FailureAnalyzedException if it can not be
	 */
	static AdviceMode of(Environment environment, ClassLoader classLoader) {
		AdviceMode mode = Binder.get(environment).bind(PROPERTY, AdviceMode.class).orElse(AdviceMode.PROXY);
		if (mode == AdviceMode.ASPECTJ && !ClassUtils.isPresent(ASPECTJ, classLoader)) {
			throw new FailureAnalyzedException(
					"The property %s is 'aspectj', but AspectJ is not on the class path.".formatted(PROPERTY),
					"Start the JVM with -javaagent:aspectjweaver.jar, which weaves the annotated methods, or set %s=proxy."
						.formatted(PROPERTY));
		}
		return mode;
	}

}
