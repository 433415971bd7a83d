package io.dlock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class InterceptionModeTests {

	private final ClassLoader withoutAspectJ = new FilteredClassLoader("org.aspectj");

	private final MockEnvironment environment = new MockEnvironment();

	@Test
	void proxiesNeedNoAspectJ() {
		assertThat(InterceptionMode.of(this.environment, this.withoutAspectJ)).isEqualTo(AdviceMode.PROXY);
	}

	@Test
	void aspectJIsOnTheClassPath() {
		this.environment.setProperty("dlock.aop.mode", "aspectj");
		assertThat(InterceptionMode.of(this.environment, getClass().getClassLoader())).isEqualTo(AdviceMode.ASPECTJ);
		assertThatExceptionOfType(FailureAnalyzedException.class)
			.isThrownBy(() -> InterceptionMode.of(this.environment, this.withoutAspectJ))
			.satisfies((ex) -> {
				assertThat(ex.analysis().getDescription()).contains("dlock.aop.mode", "not on the class path");
				assertThat(ex.analysis().getAction()).contains("-javaagent:aspectjweaver.jar", "dlock.aop.mode=proxy");
			});
	}

}
