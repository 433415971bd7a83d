package io.dlock.transaction;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application with locks in memory or a store of its own may have neither spring-tx
 * nor spring-jdbc nor spring-data-redis.
 */
class WithoutSpringTransactionsTests {

	public static class Work {

		@DistributedLocked("'work'")
		public boolean isLocked() {
			return LockHandle.current().orElseThrow().isValid();
		}

	}

	public static class Application implements Callable<Boolean> {

		@Override
		public Boolean call() {
			try (LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
					AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
				context.setClassLoader(getClass().getClassLoader());
				context.registerBean(DistributedLockedBeanPostProcessor.class, () -> {
					DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(
							() -> registry);
					postProcessor.setProxyTargetClass(true);
					return postProcessor;
				});
				context.registerBean(LockRegistry.class, () -> registry);
				context.registerBean(Work.class);
				context.refresh();
				return context.getBean(Work.class).isLocked();
			}
		}

	}

	private static URL url(String path) {
		try {
			return new File(path).toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

	@Test
	void methodIsLocked() throws Exception {
		URL[] classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((path) -> !path.matches(".*/(spring-tx|spring-jdbc|spring-data)[^/]*\\.jar"))
			.map(WithoutSpringTransactionsTests::url)
			.toArray(URL[]::new);
		try (URLClassLoader loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
			assertThatExceptionOfType(ClassNotFoundException.class).isThrownBy(() -> loader
				.loadClass("org.springframework.transaction.support.TransactionSynchronizationManager"));
			Object application = loader.loadClass(Application.class.getName()).getConstructor().newInstance();
			Thread thread = Thread.currentThread();
			ClassLoader outer = thread.getContextClassLoader();
			thread.setContextClassLoader(loader);
			try {
				assertThat(((Callable<?>) application).call()).isEqualTo(true);
			}
			finally {
				thread.setContextClassLoader(outer);
			}
		}
	}

}
