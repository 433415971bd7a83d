package io.dlock.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;

import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

import io.dlock.DistributedLocked;
import io.dlock.ScheduledLock;

/**
 * The annotation that is on a method, for messages: one that is composed has attributes
 * with other names than {@link DistributedLocked}.
 *
 * @param type the annotation that is written there
 */
record DeclaredAnnotation(Class<? extends Annotation> type) {

	/**
	 * Find the annotation.
	 * @param method the method
	 * @return the annotation, which is {@link DistributedLocked} if it is on the class
	 */
	static DeclaredAnnotation on(Method method) {
		MergedAnnotation<DistributedLocked> merged = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
			.get(DistributedLocked.class);
		return new DeclaredAnnotation(merged.isPresent() ? merged.getRoot().getType() : DistributedLocked.class);
	}

	boolean isScheduled() {
		return this.type == ScheduledLock.class;
	}

	/**
	 * The name under which an attribute is written.
	 * @param attribute its name in {@link DistributedLocked}
	 * @return its name in the annotation that is on the method
	 */
	String attribute(String attribute) {
		return Arrays.stream(this.type.getDeclaredMethods())
			.filter((candidate) -> isAliasFor(candidate, attribute))
			.map(Method::getName)
			.findFirst()
			.orElse(attribute);
	}

	private static boolean isAliasFor(Method candidate, String attribute) {
		AliasFor alias = AnnotationUtils.getAnnotation(candidate, AliasFor.class);
		return alias != null && alias.annotation() == DistributedLocked.class && alias.attribute().equals(attribute);
	}

	@Override
	public String toString() {
		return "@" + this.type.getSimpleName();
	}

}
