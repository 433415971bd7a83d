package io.dlock.aop.call;

import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Results whose work is done after the method has returned: futures and publishers,
 * callbacks by which a web server writes a response, and values that are computed when
 * they are read. They may be inside of another result.
 */
public final class PendingResults {

	/** By name, because they are not on every class path. */
	private static final Set<String> NAMES = Set.of("org.reactivestreams.Publisher",
			"java.util.concurrent.Flow$Publisher", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Deferred",
			"kotlin.sequences.Sequence", "kotlin.Lazy", "kotlin.jvm.functions.Function0",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	/** Computed when they are read. */
	private static final List<Class<?>> READ = List.of(BaseStream.class, Iterator.class, Spliterator.class);

	/**
	 * Computed when they are called. Classes with another purpose implement them, too:
	 * the pages of Spring Data are suppliers.
	 */
	private static final Set<Class<?>> CALLED = Set.of(Supplier.class, BooleanSupplier.class, IntSupplier.class,
			LongSupplier.class, DoubleSupplier.class, Runnable.class);

	private static final List<String> VIEWS = List.of("java.util.Collections$Unmodifiable",
			"java.util.Collections$Synchronized", "java.util.Collections$Checked");

	private static final String SERVLET = "org.springframework.web.servlet.";

	private static final String HTTP_ENTITY = "org.springframework.http.HttpEntity";

	/** Deep enough for all but types that are defined by themselves. */
	private static final int DEPTH = 6;

	private static final ClassValue<Boolean> PENDING = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return isPendingType(type);
		}

	};

	private PendingResults() {
	}

	/**
	 * Whether objects of a type stand for work that is done later.
	 * @param type the type, declared or of an object
	 * @return whether they do
	 */
	public static boolean isPending(Class<?> type) {
		return PENDING.get(type);
	}

	private static boolean isPendingType(Class<?> type) {
		return isAsynchronous(type) || READ.stream().anyMatch((read) -> read.isAssignableFrom(type))
				|| CALLED.contains(type) || isNamed(type, NAMES::contains) || isWrittenToBeCalled(type);
	}

	private static boolean isAsynchronous(Class<?> type) {
		return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type)
				|| Callable.class.isAssignableFrom(type)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

	private static boolean isNamed(@Nullable Class<?> type, Predicate<String> name) {
		return type != null && (name.test(type.getName()) || isNamed(type.getSuperclass(), name)
				|| Arrays.stream(type.getInterfaces()).anyMatch((each) -> isNamed(each, name)));
	}

	/**
	 * A lambda or an anonymous class is written for the method of its interface.
	 */
	private static boolean isWrittenToBeCalled(Class<?> type) {
		return (ClassUtils.isLambdaClass(type) || type.isAnonymousClass()) && !Collection.class.isAssignableFrom(type)
				&& (Iterable.class.isAssignableFrom(type)
						|| CALLED.stream().anyMatch((called) -> called.isAssignableFrom(type)));
	}

	/**
	 * Say which type to return instead.
	 * @param pending a type that is pending
	 * @param asynchronous the advice for an asynchronous type
	 * @return a sentence without its end
	 */
	public static String instead(Class<?> pending, String asynchronous) {
		if (isNamed(pending, (name) -> name.startsWith(SERVLET))) {
			return "Take the lock where the response is written, with LockRegistry.execute";
		}
		return (CALLED.contains(pending) || pending.getName().startsWith("kotlin.")
				|| READ.stream().anyMatch((read) -> read.isAssignableFrom(pending)))
						? "Return the value that it yields, or a List of values" : asynchronous;
	}

	/**
	 * Find a pending type inside of a type.
	 * @param type a declared type
	 * @return the inner type, or {@code null}
	 */
	public static @Nullable Class<?> inside(ResolvableType type) {
		return inside(type, DEPTH);
	}

	private static @Nullable Class<?> inside(ResolvableType type, int depth) {
		for (ResolvableType part : parts(type, depth)) {
			Class<?> raw = part.resolve();
			Class<?> pending = (raw != null && isPending(raw)) ? raw : inside(part, depth - 1);
			if (pending != null) {
				return pending;
			}
		}
		return null;
	}

	/**
	 * Whether only an object can tell whether something in it is pending.
	 * @param type a declared type
	 * @return whether it says nothing
	 */
	public static boolean isOpenInside(ResolvableType type) {
		return parts(type, DEPTH).stream().anyMatch((part) -> isOpen(part, DEPTH - 1));
	}

	/**
	 * Whether only an object can tell whether it is pending.
	 * @param type a declared type
	 * @return whether it says nothing
	 */
	public static boolean isOpen(ResolvableType type) {
		return isOpen(type, DEPTH);
	}

	private static boolean isOpen(ResolvableType type, int depth) {
		Class<?> raw = type.resolve();
		return raw == null || raw == Iterable.class || raw.isAssignableFrom(CompletableFuture.class)
				|| raw.isAssignableFrom(Stream.class)
				|| parts(type, depth).stream().anyMatch((part) -> isOpen(part, depth - 1));
	}

	private static List<ResolvableType> parts(ResolvableType type, int depth) {
		if (depth == 0 || type.resolve() == Class.class) {
			return List.of();
		}
		return type.isArray() ? List.of(type.getComponentType()) : List.of(type.getGenerics());
	}

	/**
	 * Find pending work in a result whose type says nothing.
	 * @param result a result
	 * @return the result or what is inside of it, or {@code null} if it is done as far as
	 * can be seen
	 */
	static @Nullable Object find(@Nullable Object result) {
		return find(result, DEPTH);
	}

	private static @Nullable Object find(@Nullable Object result, int depth) {
		if (result == null || depth == 0 || isPending(result.getClass())) {
			return (depth > 0) ? result : null;
		}
		for (Object part : parts(result)) {
			Object pending = find(part, depth - 1);
			if (pending != null) {
				return pending;
			}
		}
		return null;
	}

	/**
	 * A result that cannot be read, such as a collection that changes meanwhile, is a
	 * matter of its reader.
	 */
	private static @Nullable Object[] parts(Object result) {
		try {
			return read(result);
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			return new Object[0];
		}
	}

	/**
	 * Only collections of Java: others, which may be behind a view, may load what they
	 * have inside.
	 */
	private static @Nullable Object[] read(Object result) throws ReflectiveOperationException {
		if (result instanceof Optional<?> optional) {
			return new @Nullable Object[] { optional.orElse(null) };
		}
		if (result instanceof Object[] array) {
			return array;
		}
		String name = result.getClass().getName();
		if (name.startsWith("java.util.") && VIEWS.stream().noneMatch(name::startsWith)) {
			Object parts = (result instanceof Map<?, ?> map) ? map.values() : result;
			return (parts instanceof Collection<?> collection) ? collection.toArray() : new Object[0];
		}
		return body(result);
	}

	/**
	 * The method of the public class, because that of the application need not be public.
	 */
	private static @Nullable Object[] body(Object result) throws ReflectiveOperationException {
		Class<?> entity = result.getClass();
		while (entity != null && !entity.getName().equals(HTTP_ENTITY)) {
			entity = entity.getSuperclass();
		}
		return (entity != null) ? new @Nullable Object[] { entity.getMethod("getBody").invoke(result) } : new Object[0];
	}

}
