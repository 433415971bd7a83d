package io.dlock.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.annotation.AliasFor;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.ScheduledLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Attributes that annotations have in common.
 */
class SharedAttributesTests {

	@ParameterizedTest
	@ValueSource(classes = { DistributedLimit.class, ScheduledLock.class })
	void attributeIsAnAliasOfThatOfTheLock(Class<? extends Annotation> type) {
		Set<String> ofLock = Arrays.stream(DistributedLocked.class.getDeclaredMethods())
			.map(Method::getName)
			.collect(Collectors.toSet());
		List<Method> shared = Arrays.stream(type.getDeclaredMethods())
			.filter((attribute) -> ofLock.contains(attribute.getName()))
			.toList();
		assertThat(shared).isNotEmpty().allMatch((attribute) -> attribute.isAnnotationPresent(AliasFor.class));
	}

}
