package io.dlock.aop.call;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Methods that return a stage and take the lock {@code key}, which is free in the end.
 */
abstract class AbstractStageTests extends AbstractDistributedLockedTests {

	static class Work {

		final CompletableFuture<String> work = new CompletableFuture<>();

		final List<Thread> threads = new ArrayList<>();

		volatile @Nullable LockHandle handle;

		private volatile int runs;

		@DistributedLocked("#key")
		public CompletableFuture<String> future(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", waitTime = "20s")
		public CompletionStage<String> stage(String key, Supplier<CompletionStage<String>> body) {
			started();
			return body.get();
		}

		@DistributedLocked(key = "#key", onBusy = OnBusy.SKIP)
		public CompletableFuture<String> skipped(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", onBusy = OnBusy.SKIP)
		public CompletableFuture<Optional<String>> skippedOptional(String key) {
			started();
			return this.work.thenApply(Optional::of);
		}

		@DistributedLocked(key = "#key", fallback = "instead")
		public CompletableFuture<String> replaced(String key) {
			started();
			return this.work;
		}

		CompletableFuture<String> instead(String key) {
			assertThat(LockHandle.current()).isEmpty();
			return CompletableFuture.completedFuture("instead of " + key);
		}

		@DistributedLocked("#key")
		public CompletableFuture<String> losing(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", onLost = OnLost.IGNORE)
		public CompletableFuture<String> losingCarelessly(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", onLost = OnLost.INTERRUPT)
		public CompletableFuture<String> interrupted(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", onLost = OnLost.INTERRUPT)
		public CompletableFuture<String> interruptedBody(String key) throws InterruptedException {
			started();
			new CountDownLatch(1).await();
			return this.work;
		}

		@DistributedLocked("#key")
		public void synchronous(String key, Runnable body) {
			body.run();
		}

		private void started() {
			this.threads.add(Thread.currentThread());
			this.handle = LockHandle.current().orElse(null);
			this.runs++;
		}

		public CompletableFuture<String> getWork() {
			return this.work;
		}

		public List<Thread> getThreads() {
			return this.threads;
		}

		public @Nullable LockHandle getHandle() {
			return this.handle;
		}

		public int getRuns() {
			return this.runs;
		}

	}

	final Work work = bean(Work.class);

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(this.store.find("key")).isEmpty());
	}

	final LockHandle awaitBody() {
		Awaitility.await().until(() -> this.work.getRuns() > 0);
		LockHandle handle = this.work.getHandle();
		assertThat(handle).as("LockHandle.current() in the body").isNotNull();
		return handle;
	}

	final void lose() {
		ForcedLoss.of(this.registry, awaitBody());
	}

	final boolean isFree() {
		return this.store.find("key").isEmpty();
	}

}
