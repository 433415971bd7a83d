package io.dlock.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockRegistry;
import io.dlock.OnLost;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.ForcedLoss;

/**
 * Asynchronous methods that are called inside a transaction.
 */
abstract class AbstractAsyncTransactionTests extends AbstractTransactionTests {

	static class AsyncWork {

		private final LeaseLockRegistry registry;

		AsyncWork(LockRegistry registry) {
			this.registry = (LeaseLockRegistry) registry;
		}

		@DistributedLocked(key = "'counter'", waitTime = "20s")
		public <T> CompletableFuture<T> stage(Supplier<CompletableFuture<T>> body) {
			return body.get();
		}

		@DistributedLocked("'counter'")
		public CompletableFuture<String> stageUnlessBusy() {
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked("#key")
		public CompletableFuture<String> stageOf(String key) {
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked("'counter'")
		public CompletableFuture<String> kept() {
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked("'counter'")
		public CompletableFuture<String> losingMeanwhile() {
			ForcedLoss.ofCurrent(this.registry);
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked(key = "'counter'", onLost = OnLost.IGNORE)
		public CompletableFuture<String> keptCarelessly() {
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked("'counter'")
		@Transactional
		public CompletableFuture<String> losingInItsTransaction(Runnable body) {
			body.run();
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked(key = "'counter'", onLost = OnLost.IGNORE)
		@Transactional
		public CompletableFuture<String> losingCarelesslyInItsTransaction(Runnable body) {
			body.run();
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked("'counter'")
		public Mono<String> mono() {
			return Mono.just("done");
		}

	}

	Work work;

	AsyncWork async;

	CompletableFuture<String> body = new CompletableFuture<>();

	@BeforeEach
	void register() {
		this.context.registerBean(AsyncWork.class);
	}

	final void startWith(InsideTransaction inside) {
		this.work = start((postProcessor) -> postProcessor.setInsideTransaction(inside));
		this.async = this.context.getBean(AsyncWork.class);
	}

	/**
	 * Call a method that returns {@link #body}, and wait until it runs.
	 */
	final CompletableFuture<String> begin() {
		AtomicBoolean begun = new AtomicBoolean();
		CompletableFuture<String> result = this.async.stage(() -> {
			begun.set(true);
			return this.body;
		});
		Awaitility.await().untilTrue(begun);
		return result;
	}

	final void awaitNothingLeft() {
		Awaitility.await().untilAsserted(this::nothingIsLeft);
	}

}
