package io.dlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

import io.dlock.LockSettings;
import io.dlock.ScheduledLock;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Values that fail the start, with a message in terms of {@link ScheduledLock}.
 */
class InvalidScheduledLocksTests {

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	@AfterEach
	void close() {
		this.registry.close();
	}

	static class Job {

		@ScheduledLock(name = "${job.name}", atMost = "${job.at-most}", atLeast = "${job.at-least}")
		public void run() {
		}

	}

	@ScheduledLock(name = "${job.name}", atMost = "${job.at-most}", atLeast = "${job.at-least}")
	@Retention(RetentionPolicy.RUNTIME)
	@interface Nightly {

	}

	static class ComposedJob {

		@Nightly
		public void run() {
		}

	}

	static class WithUnknownProperty {

		@ScheduledLock(name = "job", atMost = "${job.of-nowhere}")
		public void run() {
		}

	}

	static class WithPrimitive {

		@ScheduledLock(name = "job", atMost = "10m")
		public int run() {
			return 1;
		}

	}

	static Stream<Arguments> values() {
		return Stream.of(Arguments.of("job", "600", "", "the atMost '600', which has no unit"),
				Arguments.of("job", "ten minutes", "", "the atMost 'ten minutes', which is no duration"),
				Arguments.of("job", "0s", "", "the atMost '0s', which is not more than zero"),
				Arguments.of("job", "-5m", "", "the atMost '-5m', which is not more than zero"),
				Arguments.of("job", "", "", "has no atMost"), Arguments.of("job", "1ms", "", "Change its atMost"),
				Arguments.of("job", "10m", "60", "the atLeast '60', which has no unit"),
				Arguments.of("job", "10m", "-1s", "the atLeast '-1s', which is not zero or more"),
				Arguments.of("job", "10m", "11m", "the atLeast PT11M, which is longer than its atMost PT10M"),
				Arguments.of("", "10m", "", "has the name"), Arguments.of(" ", "10m", "", "name"));
	}

	@ParameterizedTest
	@MethodSource("values")
	void wrongValueFailsTheStartWithTheNameOfTheAttribute(String name, String atMost, String atLeast, String message) {
		assertThat(refusal(Job.class, Map.of("job.name", name, "job.at-most", atMost, "job.at-least", atLeast)))
			.hasMessageContaining("@ScheduledLock on ")
			.hasMessageContaining("Job.run")
			.hasMessageContaining(message);
	}

	@ParameterizedTest
	@MethodSource("values")
	void wrongValueOfAComposedAnnotationFailsTheStart(String name, String atMost, String atLeast, String message) {
		assertThat(refusal(ComposedJob.class, Map.of("job.name", name, "job.at-most", atMost, "job.at-least", atLeast)))
			.hasMessageContaining("@Nightly on ")
			.hasMessageContaining(message);
	}

	@ParameterizedTest
	@MethodSource("methods")
	void unsupportedMethodFailsStart(Class<?> type, String message) {
		assertThat(refusal(type, Map.of())).hasMessageContaining("@ScheduledLock on ").hasMessageContaining(message);
	}

	static Stream<Arguments> methods() {
		return Stream.of(Arguments.of(WithUnknownProperty.class, "the atMost '${job.of-nowhere}'"),
				Arguments.of(WithPrimitive.class, "returns the primitive int, which cannot be null"),
				Arguments.of(WithPrimitive.class, "a @Nullable type, or void"));
	}

	private InvalidLockedMethodException refusal(Class<?> type, Map<String, Object> properties) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
			context.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> this.registry));
			context.registerBean(type);
			BeanCreationException ex = catchThrowableOfType(BeanCreationException.class, context::refresh);
			assertThat(ex).as("the bean is refused").isNotNull();
			return (InvalidLockedMethodException) ex.getCause();
		}
	}

}
