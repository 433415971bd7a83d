package io.dlock.aop;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;

import io.dlock.aop.call.LockedReturnType;
import io.dlock.aop.call.ReturnKind;

/**
 * The result of a call that is skipped because its lock is busy.
 */
final class SkippedResults {

	private static final Map<Class<?>, Object> EMPTY_VALUES = Map.of(Optional.class, Optional.empty(),
			OptionalInt.class, OptionalInt.empty(), OptionalLong.class, OptionalLong.empty(), OptionalDouble.class,
			OptionalDouble.empty());

	private SkippedResults() {
	}

	/**
	 * The result of a skipped call.
	 * @param type the type of the result, or {@code null} if it is not known
	 * @return an empty value, or {@code null} if the type has none
	 */
	static @Nullable Object emptyValue(@Nullable Class<?> type) {
		return (type != null) ? EMPTY_VALUES.get(type) : null;
	}

	/**
	 * Check that a method can be skipped.
	 * @param targetClass the class of the bean
	 * @param fallback its fallback, or {@code null}
	 * @throws InvalidLockedMethodException if its callers would get what they do not
	 * expect
	 */
	static void check(Method method, Class<?> targetClass, @Nullable Method fallback, LockedReturnType returnType) {
		if (fallback != null) {
			throw new InvalidLockedMethodException(method, "has both onBusy = SKIP and a fallback", "Use one of them",
					null);
		}
		ReactiveAdapter adapter = returnType.adapter();
		if (adapter != null && !canBeEmpty(method, adapter)) {
			throw new InvalidLockedMethodException(method, "cannot be skipped: its result cannot be empty",
					action(method, "Return a type that can be empty or null"), null);
		}
		String problem = problem(method, targetClass, returnType.kind());
		if (problem != null) {
			throw new InvalidLockedMethodException(method, "cannot be skipped: it returns " + problem,
					action(method, "Return an Optional or a @Nullable type"), null);
		}
	}

	private static String action(Method method, String change) {
		return DeclaredAnnotation.on(method).isScheduled() ? change + ", or void"
				: change + ", use onBusy = THROW, or a fallback";
	}

	private static boolean canBeEmpty(Method method, ReactiveAdapter adapter) {
		if (!KotlinDetector.isSuspendingFunction(method)) {
			return adapter.supportsEmpty();
		}
		return adapter.isMultiValue() || new MethodParameter(method, -1).getParameterType() == void.class
				|| Nullness.forMethodReturnType(method) == Nullness.NULLABLE;
	}

	private static @Nullable String problem(Method method, Class<?> targetClass, ReturnKind kind) {
		if (kind == ReturnKind.PUBLISHER) {
			return null;
		}
		boolean value = kind == ReturnKind.VALUE;
		ResolvableType returned = ResolvableType.forMethodReturnType(method, targetClass);
		Class<?> type = value ? returned.resolve(method.getReturnType()) : returned.getGeneric().resolve();
		if (type == null || type == void.class || EMPTY_VALUES.containsKey(type)) {
			return null;
		}
		if (type.isPrimitive()) {
			return "the primitive %s, which cannot be null".formatted(type);
		}
		if (type.isArray() || Map.class.isAssignableFrom(type)
				|| (Iterable.class.isAssignableFrom(type) && !Path.class.isAssignableFrom(type))) {
			return "%s, for which null is not an empty value".formatted(type.getTypeName());
		}
		return (value && Nullness.forMethodReturnType(method) == Nullness.NON_NULL)
				? "%s, which is declared not to be null".formatted(type.getTypeName()) : null;
	}

}
