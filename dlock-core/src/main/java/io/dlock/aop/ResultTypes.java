package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/**
 * Which methods return before their work is done, and how their lock is held all the
 * same.
 */
final class ResultTypes {

	private static final String FLOW = "kotlinx.coroutines.flow.Flow";

	private static final String DEFERRED = "kotlinx.coroutines.Deferred";

	private static final boolean REACTOR = isPresent("reactor.core.publisher.Mono");

	private static final boolean COROUTINES = REACTOR && isPresent("kotlinx.coroutines.reactor.MonoKt")
			&& KotlinDetector.isKotlinReflectPresent();

	private ResultTypes() {
	}

	private static boolean isPresent(String className) {
		return ClassUtils.isPresent(className, ResultTypes.class.getClassLoader());
	}

	/**
	 * How to hold the lock of a method until its work is done.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return how, or {@code null} if it is done when the method returns
	 * @throws InvalidLockedMethodException if that can not be known
	 */
	static @Nullable CompletionBound completionOf(Method method, Class<?> targetClass) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			return suspending(method);
		}
		ResolvableType returned = returned(method, targetClass);
		Class<?> type = returned.resolve(method.getReturnType());
		boolean async = isAsync(method, targetClass);
		checkInside(method, returned);
		if (type.isAssignableFrom(CompletableFuture.class)
				&& (CompletionStage.class.isAssignableFrom(type) || (type == Future.class && async))) {
			return new StageBound(async, SkippedResults.emptyValue(contentOf(method, targetClass)));
		}
		if (Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type)) {
			throw refusal(method, type.getName(), (type == Future.class)
					? "Return a CompletableFuture, or run the method with @Async" : "Return a CompletableFuture");
		}
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		if (adapter != null && canBeOurs(adapter, type)) {
			if (REACTOR) {
				return PublisherBound.of(adapter);
			}
			throw refusal(method, type.getName(), "Add reactor-core to the class path");
		}
		if (LateResults.isLate(type)) {
			throw refusal(method, type.getName(),
					LateResults.instead(type, "Return a CompletableFuture or, with reactor-core, a Mono or Flux"));
		}
		return null;
	}

	private static ResolvableType returned(Method method, Class<?> targetClass) {
		return KotlinDetector.isSuspendingFunction(method)
				? ResolvableType.forMethodParameter(new MethodParameter(method, -1))
				: ResolvableType.forMethodReturnType(method, targetClass);
	}

	private static void checkInside(Method method, ResolvableType returned) {
		Class<?> late = LateResults.inside(returned);
		if (late != null) {
			throw refusal(method, "%s with a %s in it".formatted(returned, late.getSimpleName()), LateResults.instead(
					late,
					"Let a CompletableFuture or, with reactor-core, a Mono be the outermost type, with what is done in it"));
		}
	}

	/**
	 * Whether only the result can tell whether the work is done, because the type says
	 * nothing: {@code Object}, {@code ResponseEntity<?>}.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @param completion how its lock is held until its work is done, or {@code null}
	 * @return whether each result has to be looked at
	 */
	static boolean isOpen(Method method, Class<?> targetClass, @Nullable CompletionBound completion) {
		ResolvableType returned = returned(method, targetClass);
		return (completion != null && !KotlinDetector.isSuspendingFunction(method)) ? LateResults.isOpenInside(returned)
				: LateResults.isOpen(returned);
	}

	private static CompletionBound suspending(Method method) {
		if (!COROUTINES) {
			throw refusal(method, "to its caller",
					"Add kotlinx-coroutines-reactor and kotlin-reflect to the class path, with which Spring intercepts suspending functions");
		}
		MethodParameter parameter = new MethodParameter(method, -1);
		Class<?> type = parameter.getParameterType();
		boolean flow = type.getName().equals(FLOW);
		if (!flow && LateResults.isLate(type)) {
			throw refusal(method, type.getName(),
					LateResults.instead(type, "Let the function itself suspend until the work is done"));
		}
		checkInside(method, ResolvableType.forMethodParameter(parameter));
		return PublisherBound.ofSuspending(flow,
				flow || type == void.class || Nullness.forMethodReturnType(method) == Nullness.NULLABLE);
	}

	/**
	 * The caller gets a publisher of ours, which is not a special one. And a
	 * {@code Deferred} is under way before anybody asks for its value.
	 */
	private static boolean canBeOurs(ReactiveAdapter adapter, Class<?> type) {
		return type.isAssignableFrom(adapter.getReactiveType()) && adapter.getDescriptor().isDeferred()
				&& !adapter.getReactiveType().getName().equals(DEFERRED);
	}

	private static boolean isAsync(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(targetClass, Async.class);
	}

	/**
	 * The type of the value that a stage completes with.
	 * @param method a method that returns a stage
	 * @param targetClass the class of the bean
	 * @return the type, or {@code null} if it is not known
	 */
	static @Nullable Class<?> contentOf(Method method, Class<?> targetClass) {
		return returned(method, targetClass).getGeneric().resolve();
	}

	private static InvalidLockedMethodException refusal(Method method, String returned, String action) {
		return new InvalidLockedMethodException(method,
				"returns %s before its work is done: the lock would be released too early".formatted(returned),
				action + ", lock a synchronous method that does the work, or use LockRegistry.acquireAsync and release the handle when the work is done",
				null);
	}

	/**
	 * Whether an object of this type stands for work that is under way or to be done.
	 * @param type the type of a returned object
	 * @return whether it does
	 */
	static boolean isAsynchronous(Class<?> type) {
		return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type)
				|| Callable.class.isAssignableFrom(type)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

}
