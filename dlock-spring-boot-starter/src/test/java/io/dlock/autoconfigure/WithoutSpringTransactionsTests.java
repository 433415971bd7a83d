package io.dlock.autoconfigure;

import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ClassUtils;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.test.ReducedClassPath;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with nothing but a web starter and that of dlock has no spring-tx.
 */
class WithoutSpringTransactionsTests {

	static class Work {

		@DistributedLocked("'work'")
		public boolean isLocked() {
			return LockHandle.current().isPresent();
		}

	}

	@EnableAutoConfiguration
	@Import(Work.class)
	static class Application {

	}

	@ImportAutoConfiguration({ DlockTestSliceAutoConfiguration.class, DlockAutoConfiguration.class })
	@Import(Work.class)
	static class Slice {

	}

	private static Object start(Class<?> application, String... properties) {
		assertThat(ClassUtils.isPresent("org.springframework.transaction.TransactionExecution",
				application.getClassLoader()))
			.isFalse();
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(application)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties(properties)
			.run()) {
			return context.getBean(Work.class).isLocked();
		}
		catch (RuntimeException ex) {
			return NestedExceptionUtils.getMostSpecificCause(ex).toString();
		}
	}

	public static class InMemory implements Callable<Object> {

		@Override
		public Object call() {
			return start(Application.class, "dlock.backend=memory");
		}

	}

	public static class InASlice implements Callable<Object> {

		@Override
		public Object call() {
			return start(Slice.class);
		}

	}

	public static class WithoutAStore implements Callable<Object> {

		@Override
		public Object call() {
			return start(Application.class);
		}

	}

	private static Object call(Class<? extends Callable<?>> code) throws Exception {
		return ReducedClassPath.call("spring-(tx|jdbc|orm|r2dbc|data|boot-(jdbc|sql|transaction|persistence|data))",
				code);
	}

	@Test
	void methodIsLockedInMemory() throws Exception {
		assertThat(call(InMemory.class)).isEqualTo(true);
	}

	@Test
	void methodIsLockedInATestSlice() throws Exception {
		assertThat(call(InASlice.class)).isEqualTo(true);
	}

	@Test
	void missingStoreIsReported() throws Exception {
		assertThat(call(WithoutAStore.class)).asString().contains("dlock has no store");
	}

}
