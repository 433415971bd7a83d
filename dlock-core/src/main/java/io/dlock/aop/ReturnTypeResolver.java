package io.dlock.aop;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.aop.call.LockedReturnType;
import io.dlock.aop.call.PendingResults;
import io.dlock.aop.call.ReturnKind;

/**
 * Finds the methods that return before their work is done, and the way to hold their lock
 * until then.
 */
final class ReturnTypeResolver {

	private static final String FLOW = "kotlinx.coroutines.flow.Flow";

	private static final String DEFERRED = "kotlinx.coroutines.Deferred";

	private static final boolean REACTOR = isPresent("reactor.core.publisher.Mono");

	private static final boolean COROUTINES = REACTOR && isPresent("kotlinx.coroutines.reactor.MonoKt")
			&& KotlinDetector.isKotlinReflectPresent();

	private ReturnTypeResolver() {
	}

	private static boolean isPresent(String className) {
		return ClassUtils.isPresent(className, ReturnTypeResolver.class.getClassLoader());
	}

	/**
	 * Resolve the return type of a method.
	 * @param targetClass the class of the bean
	 * @throws InvalidLockedMethodException if the end of the work cannot be known
	 */
	static LockedReturnType resolve(Method method, Class<?> targetClass) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			return suspending(method);
		}
		ResolvableType returned = ResolvableType.forMethodReturnType(method, targetClass);
		Class<?> type = returned.resolve(method.getReturnType());
		boolean async = isAsync(method, targetClass);
		checkInside(method, returned);
		boolean openInside = PendingResults.isOpenInside(returned);
		if (type.isAssignableFrom(CompletableFuture.class)
				&& (CompletionStage.class.isAssignableFrom(type) || (type == Future.class && async))) {
			return new LockedReturnType(async ? ReturnKind.STAGE_OF_ASYNC : ReturnKind.STAGE,
					SkippedResults.emptyValue(returned.getGeneric().resolve()), openInside, null);
		}
		if (Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type)) {
			throw refusal(method, type.getName(), (type == Future.class)
					? "Return a CompletableFuture, or run the method with @Async" : "Return a CompletableFuture");
		}
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		if (adapter != null && canBeOurs(adapter, type)) {
			if (REACTOR) {
				return new LockedReturnType(ReturnKind.PUBLISHER, null, openInside, adapter);
			}
			throw refusal(method, type.getName(), "Add reactor-core to the class path");
		}
		if (PendingResults.isPending(type)) {
			throw refusal(method, type.getName(),
					PendingResults.instead(type, "Return a CompletableFuture or, with reactor-core, a Mono or Flux"));
		}
		return new LockedReturnType(ReturnKind.VALUE, SkippedResults.emptyValue(type), PendingResults.isOpen(returned),
				null);
	}

	private static void checkInside(Method method, ResolvableType returned) {
		Class<?> pending = PendingResults.inside(returned);
		if (pending != null) {
			throw refusal(method, "%s with a %s in it".formatted(returned, pending.getSimpleName()), PendingResults
				.instead(pending,
						"Let a CompletableFuture or, with reactor-core, a Mono be the outermost type, and the value its content"));
		}
	}

	private static LockedReturnType suspending(Method method) {
		if (!COROUTINES) {
			throw refusal(method, "to its caller",
					"Add kotlinx-coroutines-reactor and kotlin-reflect to the class path, with which Spring intercepts suspending functions");
		}
		MethodParameter parameter = new MethodParameter(method, -1);
		Class<?> type = parameter.getParameterType();
		boolean flow = type.getName().equals(FLOW);
		if (!flow && PendingResults.isPending(type)) {
			throw refusal(method, type.getName(),
					PendingResults.instead(type, "Let the function itself suspend until the work is done"));
		}
		ResolvableType returned = ResolvableType.forMethodParameter(parameter);
		checkInside(method, returned);
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance()
			.getAdapter(flow ? Flux.class : Mono.class);
		return new LockedReturnType(ReturnKind.PUBLISHER, null, PendingResults.isOpen(returned), adapter);
	}

	/**
	 * The caller receives a separate publisher, which has none of the special types. A
	 * {@code Deferred} starts before its value is requested.
	 */
	private static boolean canBeOurs(ReactiveAdapter adapter, Class<?> type) {
		return type.isAssignableFrom(adapter.getReactiveType()) && adapter.getDescriptor().isDeferred()
				&& !adapter.getReactiveType().getName().equals(DEFERRED);
	}

	private static boolean isAsync(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(targetClass, Async.class);
	}

	private static InvalidLockedMethodException refusal(Method method, String returned, String action) {
		return new InvalidLockedMethodException(method,
				"returns %s before its work is done: the lock would be released too early".formatted(returned),
				action + ", lock a synchronous method that does the work, or use LockRegistry.acquireAsync and release the handle when the work is done",
				null);
	}

}
