package io.dlock.aop.call;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * R49: a cancelled caller leaves the queue.
 */
public class CancelledAcquisitionTests {

	static class Work {

		@DistributedLocked(key = "'key'", waitTime = "60s")
		public CompletableFuture<String> stage() {
			return CompletableFuture.completedFuture("never");
		}

		@DistributedLocked(key = "'key'", waitTime = "60s")
		public Mono<String> mono() {
			return Mono.just("never");
		}

	}

	/**
	 * Shows what was asked for.
	 */
	private static final class ObservedRegistry implements LockRegistry {

		private final LeaseLockRegistry registry;

		private CompletableFuture<LockHandle> acquired = new CompletableFuture<>();

		private ObservedRegistry(LeaseLockRegistry registry) {
			this.registry = registry;
		}

		@Override
		public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
			this.acquired = this.registry.acquireAsync(request);
			return this.acquired;
		}

		@Override
		public void addListener(LockListener listener) {
			this.registry.addListener(listener);
		}

		@Override
		public void removeListener(LockListener listener) {
			this.registry.removeListener(listener);
		}

		@Override
		public LockHandle acquire(LockRequest request) {
			return this.registry.acquire(request);
		}

		@Override
		public Optional<LockHandle> tryAcquire(LockRequest request) {
			return this.registry.tryAcquire(request);
		}

		@Override
		public LockSet acquireAll(LockRequest template, Collection<String> keys) {
			return this.registry.acquireAll(template, keys);
		}

		@Override
		public CompletableFuture<LockSet> acquireAllAsync(LockRequest template, Collection<String> keys) {
			return this.registry.acquireAllAsync(template, keys);
		}

		@Override
		public Lock lock(LockRequest request) {
			return this.registry.lock(request);
		}

		@Override
		public boolean isHeldByCurrentThread(String key) {
			return this.registry.isHeldByCurrentThread(key);
		}

		@Override
		public Optional<LockInfo> find(String key) {
			return this.registry.find(key);
		}

	}

	private final MemoryLockStore store = new MemoryLockStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().shutdownTimeout(Duration.ZERO).build());

	private final ObservedRegistry observed = new ObservedRegistry(this.registry);

	private final GenericApplicationContext context = new GenericApplicationContext();

	private Work work;

	@BeforeEach
	void start() {
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.observed);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		this.context.registerBean(Work.class);
		this.context.refresh();
		this.work = this.context.getBean(Work.class);
		this.store.acquire(new AcquireCommand("key", "elsewhere", Duration.ofSeconds(60), "another instance", ""));
	}

	@AfterEach
	void close() {
		this.context.close();
		this.registry.close();
	}

	@Test
	void r49CancelledFutureGivesUpTheAcquisition() {
		CompletableFuture<String> result = this.work.stage();
		assertThat(this.observed.acquired).isNotDone();
		result.cancel(true);
		assertThat(this.observed.acquired).isCancelled();
	}

	@Test
	void r49CancelledSubscriptionGivesUpTheAcquisition() {
		this.work.mono().subscribe().dispose();
		assertThat(this.observed.acquired).isCancelled();
	}

}
