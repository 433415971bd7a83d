package io.dlock.autoconfigure;

import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

/**
 * {@code dlock.aop.mode} with and without AspectJ.
 */
class InterceptionModeTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class))
		.withPropertyValues("dlock.backend=memory");

	private final ApplicationContextRunner withoutAspectJ = this.runner
		.withClassLoader(new FilteredClassLoader("org.aspectj"));

	@Test
	void proxiesNeedNoAspectJ() {
		this.withoutAspectJ.run((context) -> assertThat(context).hasSingleBean(LockRegistry.class));
	}

	@Test
	void aspectJOnTheClassPath() {
		this.runner.withPropertyValues("dlock.aop.mode=aspectj")
			.run((context) -> assertThat(context).hasSingleBean(LockRegistry.class));
	}

	@Test
	void aspectJMissing() {
		this.withoutAspectJ.withPropertyValues("dlock.aop.mode=aspectj")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.asInstanceOf(type(FailureAnalyzedException.class))
				.satisfies((ex) -> {
					assertThat(ex.analysis().getDescription()).contains("dlock.aop.mode", "not on the class path");
					assertThat(ex.analysis().getAction()).contains("-javaagent:aspectjweaver.jar",
							"dlock.aop.mode=proxy");
				}));
	}

	static class WarmUp {

		@PostConstruct
		@DistributedLocked(name = "warm-up")
		void run() {
		}

	}

	static class Farewell {

		@PreDestroy
		@DistributedLocked(name = "farewell")
		public void run() {
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { WarmUp.class, Farewell.class })
	void methodThatTheContainerCallsFailsTheStart(Class<?> type) {
		this.runner.withBean(type)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("the container calls it when it creates or destroys the bean"));
	}

	interface Counter {

		long count();

	}

	static class LockedCounter implements Counter {

		@Override
		@DistributedLocked("'count'")
		public long count() {
			return LockHandle.current().orElseThrow().token();
		}

	}

	@ParameterizedTest
	@CsvSource({ "false, true", "true, false" })
	void proxyIsOfTheKindThatTheApplicationChooses(boolean proxyTargetClass, boolean ofInterfaces) {
		this.runner.withBean("counter", LockedCounter.class)
			.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
			.run((context) -> {
				Counter counter = context.getBean(Counter.class);
				assertThat(AopUtils.isJdkDynamicProxy(counter)).isEqualTo(ofInterfaces);
				assertThat(counter.count()).isPositive();
			});
	}

	@Test
	void proxyIsOfTheClassByDefault() {
		this.runner.withBean(LockedCounter.class)
			.run((context) -> assertThat(context.getBean(LockedCounter.class).count()).isPositive());
	}

}
