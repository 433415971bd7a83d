package io.dlock.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

import io.dlock.DistributedLocked;
import io.dlock.ScheduledLock;

/**
 * The annotation that is on a method or its class: one that is composed has rules of its
 * own, and attributes with other names than {@link DistributedLocked}.
 *
 * @param types the annotation that is written there, and those of which it is composed,
 * down to {@link DistributedLocked}
 */
record DeclaredAnnotation(List<Class<? extends Annotation>> types) {

	/**
	 * Find the annotation.
	 * @return the annotation, which is {@link DistributedLocked} if it is on a subclass
	 */
	static DeclaredAnnotation on(Method method) {
		return Stream.of(method, method.getDeclaringClass())
			.map((place) -> MergedAnnotations.from(place, SearchStrategy.TYPE_HIERARCHY).get(DistributedLocked.class))
			.filter(MergedAnnotation::isPresent)
			.map((merged) -> new DeclaredAnnotation(merged.getMetaTypes()))
			.findFirst()
			.orElseGet(() -> new DeclaredAnnotation(List.of(DistributedLocked.class)));
	}

	boolean isScheduled() {
		return this.types.contains(ScheduledLock.class);
	}

	/**
	 * The name under which an attribute is written.
	 * @param attribute its name in {@link DistributedLocked}
	 * @return its name in the outermost annotation that has it
	 */
	String attribute(String attribute) {
		String name = attribute;
		for (int i = this.types.size() - 2; i >= 0; i--) {
			Class<? extends Annotation> aliased = this.types.get(i + 1);
			String inner = name;
			name = Arrays.stream(this.types.get(i).getDeclaredMethods())
				.filter((candidate) -> isAliasFor(candidate, aliased, inner)
						|| isAliasFor(candidate, DistributedLocked.class, attribute))
				.map(Method::getName)
				.findFirst()
				.orElse(inner);
		}
		return name;
	}

	private static boolean isAliasFor(Method candidate, Class<? extends Annotation> annotation, String attribute) {
		AliasFor alias = AnnotationUtils.getAnnotation(candidate, AliasFor.class);
		return alias != null && alias.annotation() == annotation && alias.attribute().equals(attribute);
	}

	@Override
	public String toString() {
		return "@" + this.types.get(0).getSimpleName();
	}

}
