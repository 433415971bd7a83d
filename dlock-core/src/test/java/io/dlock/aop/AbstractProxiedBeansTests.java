package io.dlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.CapturedLog;

/**
 * A context with locked beans.
 */
abstract class AbstractProxiedBeansTests {

	final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	final CapturedLog log = CapturedLog.of(ProxyWarnings.class);

	@AfterEach
	void close() {
		this.log.close();
		this.context.close();
		this.registry.close();
	}

	final void start(boolean proxyTargetClass, Consumer<AnnotationConfigApplicationContext> beans) {
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry, AdviceMode.PROXY);
		postProcessor.setProxyTargetClass(proxyTargetClass);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		beans.accept(this.context);
		this.context.refresh();
	}

	final void start(Class<?>... types) {
		start(true, (beans) -> beans.register(types));
	}

	final List<String> warnings() {
		return this.log.messages();
	}

	static List<String> held() {
		return LockContext.all().stream().map(LockHandle::key).toList();
	}

	interface Api<T> {

		@DistributedLocked("#p0")
		List<String> run(T key);

	}

	static class Service implements Api<String> {

		@Override
		public List<String> run(String key) {
			return held();
		}

	}

	static class Stages {

		@DistributedLocked("'stage'")
		public CompletableFuture<List<String>> stage() {
			return CompletableFuture.completedFuture(held());
		}

	}

}
