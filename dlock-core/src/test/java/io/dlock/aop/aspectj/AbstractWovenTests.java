package io.dlock.aop.aspectj;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

/**
 * Contexts, registries, and a class whose methods are woven.
 */
abstract class AbstractWovenTests {

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
	}

	/**
	 * The keys of the locks that the calling thread holds, innermost first. A key that is
	 * locked twice is there twice.
	 */
	static List<String> held() {
		return LockContext.all().stream().map(LockHandle::key).toList();
	}

	LeaseLockRegistry registry() {
		return registry(new MemoryLockStore());
	}

	LeaseLockRegistry registry(MemoryLockStore store) {
		LeaseLockRegistry registry = new LeaseLockRegistry(store, LockSettings.defaults());
		this.opened.add(registry);
		return registry;
	}

	AnnotationConfigApplicationContext start(AdviceMode mode, LockRegistry registry, Class<?>... types) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		this.opened.add(context);
		context.registerBean(DistributedLockedBeanPostProcessor.class,
				() -> PostProcessors.create(() -> registry, mode));
		for (Class<?> type : types) {
			context.registerBean(type);
		}
		context.refresh();
		return context;
	}

	static class Orders {

		@DistributedLocked("'pay:' + #order")
		public List<String> pay(String order) {
			return held();
		}

		List<String> payWithin(String order) {
			return pay(order);
		}

		List<String> payPrivately(String order) {
			return hidden(order);
		}

		@DistributedLocked("'hidden:' + #order")
		private List<String> hidden(String order) {
			return held();
		}

		@DistributedLocked("'final:' + #order + #pieces")
		public final List<String> last(String order, long pieces) {
			return held();
		}

		@DistributedLocked("'take:' + #pieces")
		public List<String> take(long pieces) {
			return held();
		}

		@DistributedLocked("'static:' + #order")
		static List<String> ofClass(String order) {
			return held();
		}

		@DistributedLocked("#keys[0]")
		public List<String> recursive(String... keys) {
			return (keys.length > 1) ? recursive(List.of(keys).subList(1, keys.length).toArray(String[]::new)) : held();
		}

		@DistributedLocked("#path[0]")
		public List<String> along(String[] path) {
			if (path[0].equals("end")) {
				return held();
			}
			path[0] = "end";
			return along(path);
		}

		@DistributedLocked("'stage'")
		public CompletableFuture<List<String>> stage() {
			return CompletableFuture.completedFuture(held());
		}

		@DistributedLocked("'mono'")
		public Mono<List<String>> mono() {
			return Mono.fromSupplier(AbstractWovenTests::held);
		}

	}

}
