package io.dlock.aop;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.util.ClassUtils;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Most applications have neither Reactor nor Kotlin on their class path.
 */
@Timeout(60)
class WithoutReactorTests {

	static class Work {

		@DistributedLocked("'key'")
		public String synchronous() {
			return "synchronous " + LockHandle.current().isPresent();
		}

		@DistributedLocked("'key'")
		public CompletableFuture<String> future() {
			return CompletableFuture.completedFuture("future " + LockHandle.current().isPresent());
		}

	}

	@Test
	void applicationRunsWithoutThem() throws Exception {
		String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !entry
				.matches(".*(reactor|reactive-streams|rxjava|kotlin|context-propagation|micrometer-core).*jar"))
			.collect(Collectors.joining(File.pathSeparator));
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				classPath, WithoutReactorTests.class.getName())
			.redirectErrorStream(true)
			.start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor()).as(output).isZero();
		assertThat(output).contains("reactor false", "kotlin false", "synchronous true", "future true");
	}

	public static void main(String[] args) {
		ClassLoader loader = WithoutReactorTests.class.getClassLoader();
		System.out.println("reactor " + ClassUtils.isPresent("org.reactivestreams.Publisher", loader));
		System.out.println("kotlin " + ClassUtils.isPresent("kotlin.Unit", loader));
		try (LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
				GenericApplicationContext context = new GenericApplicationContext()) {
			DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(() -> registry);
			postProcessor.setProxyTargetClass(true);
			context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
			context.registerBean(Work.class);
			context.refresh();
			System.out.println(context.getBean(Work.class).synchronous());
			System.out.println(context.getBean(Work.class).future().join());
		}
	}

}
