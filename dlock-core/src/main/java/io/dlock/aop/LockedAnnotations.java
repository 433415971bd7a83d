package io.dlock.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.ReflectionUtils.MethodCallback;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;

/**
 * Finds the annotation that locks a method: that on the method, or else that on a class.
 */
final class LockedAnnotations {

	private LockedAnnotations() {
	}

	/**
	 * Whether a class is generated, as those of JDK proxies and lambdas are. Their
	 * methods have neither annotations nor names of parameters; these are in the
	 * interfaces.
	 * @param type the class of a bean
	 * @return whether its interfaces count
	 */
	static boolean isBehindInterfaces(Class<?> type) {
		return Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type);
	}

	/**
	 * The method that has the annotations and the names of the parameters.
	 * @param method the method that is called
	 * @param type the class of the bean
	 * @return the method of the class, or of the interface
	 */
	static Method specific(Method method, Class<?> type) {
		return isBehindInterfaces(type) ? BridgeMethodResolver.findBridgedMethod(method)
				: AopUtils.getMostSpecificMethod(method, type);
	}

	/**
	 * The class that names a method, its default key above all: classes that are made
	 * while the application runs have other names in each process.
	 * @param method the method whose annotations count
	 * @param type the class of the bean
	 * @return the class, or the interface
	 */
	static Class<?> named(Method method, Class<?> type) {
		Class<?> declaring = method.getDeclaringClass();
		return isBehindInterfaces(type)
				? Stream.of(type.getInterfaces()).filter(declaring::isAssignableFrom).findFirst().orElse(declaring)
				: ClassUtils.getUserClass(type);
	}

	/**
	 * Find the annotation. One on a class applies to public methods, but not to
	 * {@code equals} and {@code hashCode}, which proxies do not intercept; one on the
	 * method always does.
	 * @param method the method that is called
	 * @param type the class of the bean
	 * @return the annotation, or {@code null} if the method is not locked
	 */
	static @Nullable DistributedLocked find(Method method, Class<?> type) {
		return find(DistributedLocked.class, method, type);
	}

	/**
	 * Find the limit where the annotation is.
	 * @param method the method that is called
	 * @param type the class of the bean
	 * @return the limit, or {@code null} if the method has a lock
	 */
	static @Nullable DistributedLimit findLimit(Method method, Class<?> type) {
		return find(DistributedLimit.class, method, type);
	}

	private static <A extends Annotation> @Nullable A find(Class<A> kind, Method method, Class<?> type) {
		for (AnnotatedElement place : places(method, type)) {
			A found = AnnotatedElementUtils.findMergedAnnotation(place, kind);
			if (found != null) {
				return found;
			}
		}
		return null;
	}

	static boolean isCandidate(Class<?> type) {
		return AnnotationUtils.isCandidateClass(type, DistributedLocked.class);
	}

	/**
	 * Whether a call of the method takes a lock.
	 * @param method the method that is called
	 * @param type the class of the bean
	 * @return whether it is locked
	 */
	static boolean isLocked(Method method, Class<?> type) {
		return find(method, type) != null;
	}

	/**
	 * Find the locked methods of a class.
	 * @param type the class of the bean
	 */
	static List<Method> methods(Class<?> type) {
		Set<Method> locked = new LinkedHashSet<>();
		MethodCallback callback = (method) -> {
			if (!method.isBridge() && !method.isSynthetic() && isLocked(method, type)) {
				locked.add(specific(method, type));
			}
		};
		if (!isBehindInterfaces(type)) {
			ReflectionUtils.doWithMethods(type, callback);
		}
		// of those it sees only what classes inherit
		for (Class<?> implemented : ClassUtils.getAllInterfacesForClassAsSet(type)) {
			ReflectionUtils.doWithMethods(implemented, callback);
			ReflectionUtils.doWithMethods(implemented, (method) -> checkNotHidden(method, type));
		}
		return List.copyOf(locked);
	}

	/**
	 * Refuse a method whose annotation is in an interface that its class does not
	 * implement: it would not be found.
	 */
	private static void checkNotHidden(Method method, Class<?> type) {
		if (!isLocked(method, type) && AnnotatedElementUtils.hasAnnotation(method, DistributedLocked.class)) {
			Class<?> implementing = specific(method, type).getDeclaringClass();
			throw new InvalidLockedMethodException(method,
					"would not be locked in %s, which inherits it from %s: that class does not implement the interface"
						.formatted(type.getName(), implementing.getName()),
					"Override the method in %s, or annotate that of %s".formatted(type.getSimpleName(),
							implementing.getSimpleName()),
					null);
		}
	}

	/**
	 * Refuse a method with two annotations that say different things and of which none
	 * overrides the other.
	 * @param method the method that is called
	 * @param type the class of the bean
	 * @throws InvalidLockedMethodException if there are two
	 */
	static void checkUnique(Method method, Class<?> type) {
		checkKind(method, type);
		checkUnique(DistributedLimit.class, "limits", method, type);
		checkUnique(DistributedLocked.class, "locks", method, type);
	}

	private static <A extends Annotation> void checkUnique(Class<A> kind, String plural, Method method, Class<?> type) {
		for (AnnotatedElement place : places(method, type)) {
			List<MergedAnnotation<A>> all = MergedAnnotations.from(place, SearchStrategy.TYPE_HIERARCHY)
				.stream(kind)
				.toList();
			if (!all.isEmpty()) {
				checkUnique(all, plural, specific(method, type));
				return;
			}
		}
	}

	/**
	 * A limit and a lock do not override each other, wherever they are: the caller would
	 * count on both.
	 */
	private static void checkKind(Method method, Class<?> type) {
		Map<Boolean, MergedAnnotation<DistributedLocked>> kinds = new HashMap<>();
		places(method, type).stream()
			.flatMap((place) -> MergedAnnotations.from(place, SearchStrategy.TYPE_HIERARCHY)
				.stream(DistributedLocked.class))
			.forEach((found) -> kinds.put(found.getMetaTypes().contains(DistributedLimit.class), found));
		if (kinds.size() > 1) {
			throw new InvalidLockedMethodException(specific(method, type), "has both a limit and a lock, %s".formatted(
					kinds.values().stream().map(LockedAnnotations::name).sorted().collect(Collectors.joining(" and "))),
					"Leave one of them here, and put the other on a method of another bean that calls this one or is called by it. The outer one is acquired first",
					null);
		}
	}

	private static <A extends Annotation> void checkUnique(List<MergedAnnotation<A>> all, String plural,
			Method method) {
		MergedAnnotation<A> first = all.get(0);
		for (MergedAnnotation<A> other : all) {
			if (!first.synthesize().equals(other.synthesize()) && !isOverridden(other, first)) {
				throw new InvalidLockedMethodException(method, "has two %s, %s, of which only one would be taken"
					.formatted(plural,
							Stream.of(first, other).map(LockedAnnotations::name).collect(Collectors.joining(" and "))),
						"Leave one of them, and take the other in a method of another bean, or with the LockRegistry",
						null);
			}
		}
	}

	private static boolean isOverridden(MergedAnnotation<?> annotation, MergedAnnotation<?> by) {
		Class<?> place = place(annotation);
		return !place.equals(place(by)) && place.isAssignableFrom(place(by));
	}

	private static Class<?> place(MergedAnnotation<?> annotation) {
		Object source = Objects.requireNonNull(annotation.getSource());
		return (source instanceof Member member) ? member.getDeclaringClass() : (Class<?>) source;
	}

	private static String name(MergedAnnotation<?> annotation) {
		return "@%s on %s%s".formatted(annotation.getRoot().getType().getSimpleName(), place(annotation).getName(),
				(annotation.getSource() instanceof Method method) ? "." + method.getName() : "");
	}

	/**
	 * The elements that may have the annotation, in the order in which they count.
	 */
	private static List<AnnotatedElement> places(Method method, Class<?> type) {
		if (method.getDeclaringClass() == Object.class) {
			return List.of();
		}
		Method specific = specific(method, type);
		List<AnnotatedElement> places = new ArrayList<>();
		places.add(specific);
		if (!Modifier.isPublic(specific.getModifiers()) || Modifier.isStatic(specific.getModifiers())
				|| ReflectionUtils.isEqualsMethod(specific) || ReflectionUtils.isHashCodeMethod(specific)) {
			return places;
		}
		Class<?> declaring = specific.getDeclaringClass();
		places.add(declaring);
		if (isBehindInterfaces(type)) {
			Stream.of(type.getInterfaces()).filter(declaring::isAssignableFrom).forEach(places::add);
		}
		else {
			places.add(type);
		}
		return places;
	}

}
