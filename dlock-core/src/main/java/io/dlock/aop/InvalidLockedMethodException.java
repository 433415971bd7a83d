package io.dlock.aop;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * A {@link io.dlock.DistributedLocked} method that cannot be locked. Thrown when its bean
 * is created.
 *
 * @since 0.1
 */
public final class InvalidLockedMethodException extends IllegalStateException {

	private final String description;

	private final String action;

	InvalidLockedMethodException(Method method, String problem, String action, @Nullable Throwable cause) {
		this(DeclaredAnnotation.on(method) + " on " + ClassUtils.getQualifiedMethodName(method) + " " + problem, action,
				cause);
	}

	private InvalidLockedMethodException(String description, String action, @Nullable Throwable cause) {
		super(description + ". " + action + ".", cause);
		this.description = description + ".";
		this.action = action + ".";
	}

	/**
	 * The problem, with the method that has it.
	 * @return a sentence
	 */
	public String description() {
		return this.description;
	}

	/**
	 * The way to solve it.
	 * @return a sentence
	 */
	public String action() {
		return this.action;
	}

}
