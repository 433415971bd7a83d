package io.dlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.ReflectionUtils.MethodCallback;

import io.dlock.DistributedLocked;
import io.dlock.LockRegistry;

/**
 * The locked methods of the application: each annotation is read once, when its bean is
 * created.
 */
final class LockedOperations {

	private final Map<MethodClassKey, LockedOperation> operations = new ConcurrentHashMap<>();

	/** The locked methods of each class. */
	private final Map<Class<?>, List<Method>> checked = new ConcurrentHashMap<>();

	private final LockedOperationParser parser;

	private final Supplier<LockRegistry> registry;

	LockedOperations(LockedOperationParser parser, Supplier<LockRegistry> registry) {
		this.parser = parser;
		this.registry = registry;
	}

	static boolean isCandidate(Class<?> targetClass) {
		return AnnotationUtils.isCandidateClass(targetClass, DistributedLocked.class);
	}

	/**
	 * Whether a call of the method takes a lock. A class-level annotation applies to
	 * public methods, but not to {@code equals} and {@code hashCode}, which proxies do
	 * not intercept; one on the method always does.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return whether it is locked
	 */
	static boolean isLocked(Method method, Class<?> targetClass) {
		return annotation(method, targetClass) != null;
	}

	/**
	 * Check all locked methods of a class.
	 * @param targetClass the class of a bean
	 * @return the locked methods
	 * @throws InvalidLockedMethodException if one can not be honoured
	 */
	List<Method> check(Class<?> targetClass) {
		List<Method> locked = this.checked.get(targetClass);
		if (locked == null) {
			locked = lockedMethods(targetClass);
			locked.forEach((method) -> get(method, targetClass));
			this.checked.put(targetClass, locked);
		}
		return locked;
	}

	private static List<Method> lockedMethods(Class<?> targetClass) {
		Set<Method> locked = new LinkedHashSet<>();
		MethodCallback callback = (method) -> {
			if (!method.isBridge() && !method.isSynthetic() && isLocked(method, targetClass)) {
				locked.add(AopUtils.getMostSpecificMethod(method, targetClass));
			}
		};
		ReflectionUtils.doWithMethods(targetClass, callback);
		// of those it sees only what classes inherit
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(targetClass)) {
			ReflectionUtils.doWithLocalMethods(type, callback);
		}
		return List.copyOf(locked);
	}

	/**
	 * Whether there is a method that may be part of a reactive transaction.
	 * @return whether there is one, among those checked
	 */
	boolean hasReactive() {
		return this.operations.values().stream().anyMatch((operation) -> {
			CompletionBound completion = operation.completion();
			return completion != null && completion.isReactive();
		});
	}

	LockedOperation get(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		LockedOperation operation = this.operations.get(key);
		if (operation == null) {
			operation = read(method, targetClass);
			this.operations.put(key, operation);
		}
		return operation;
	}

	private LockedOperation read(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		DistributedLocked annotation = annotation(method, targetClass);
		if (annotation == null) {
			throw new IllegalStateException(method + " is not annotated");
		}
		LockedOperation operation = this.parser.parse(annotation, specific, targetClass);
		try {
			this.registry.get().validate(operation.request("key"));
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockedMethodException(specific, "does not fit the configuration: " + ex.getMessage(),
					WrittenAnnotation.on(specific).isScheduled() ? "Change its atMost or atLeast"
							: "Change the annotation, dlock.command-timeout or dlock.max-hold",
					ex);
		}
		return operation;
	}

	private static @Nullable DistributedLocked annotation(Method method, Class<?> targetClass) {
		if (method.getDeclaringClass() == Object.class) {
			return null;
		}
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		DistributedLocked annotation = onMethod(specific);
		if (annotation == null && Modifier.isPublic(specific.getModifiers())
				&& !Modifier.isStatic(specific.getModifiers()) && !ReflectionUtils.isEqualsMethod(specific)
				&& !ReflectionUtils.isHashCodeMethod(specific)) {
			annotation = AnnotatedElementUtils.findMergedAnnotation(specific.getDeclaringClass(),
					DistributedLocked.class);
			if (annotation == null) {
				annotation = AnnotatedElementUtils.findMergedAnnotation(targetClass, DistributedLocked.class);
			}
		}
		return annotation;
	}

	private static @Nullable DistributedLocked onMethod(Method method) {
		return AnnotatedElementUtils.findMergedAnnotation(method, DistributedLocked.class);
	}

}
