package io.dlock.aop.call;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * R49: the lock of a method that returns a stage is held until the stage completes.
 */
@Timeout(60)
public class StageResultTests extends AbstractDistributedLockedTests {

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

		@DistributedLocked(key = "#key", lease = "300ms", renew = false)
		public CompletableFuture<String> losing(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false, onLost = OnLost.IGNORE)
		public CompletableFuture<String> losingCarelessly(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false, onLost = OnLost.INTERRUPT)
		public CompletableFuture<String> interrupted(String key) {
			started();
			return this.work;
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false, onLost = OnLost.INTERRUPT)
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

	private final Work work = bean(Work.class);

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(this.store.find("key")).isEmpty());
	}

	private LockHandle awaitBody() {
		Awaitility.await().until(() -> this.work.getRuns() > 0);
		LockHandle handle = this.work.getHandle();
		assertThat(handle).as("LockHandle.current() in the body").isNotNull();
		return handle;
	}

	private boolean isFree() {
		return this.store.find("key").isEmpty();
	}

	@Test
	void r49LockIsHeldUntilTheStageCompletes() {
		CompletableFuture<String> result = this.work.future("key");
		LockHandle handle = awaitBody();
		assertThat(handle.isValid()).isTrue();
		assertThat(handle.key()).isEqualTo("key");
		assertThat(isFree()).isFalse();
		assertThat(result).isNotDone();
		assertThat(LockHandle.current()).as("on the calling thread").isEmpty();
		List<Boolean> freeAtCompletion = new ArrayList<>();
		CompletableFuture<Void> seen = result.thenAccept((value) -> freeAtCompletion.add(isFree()));
		this.work.getWork().complete("done");
		assertThat(result.join()).isEqualTo("done");
		seen.join();
		assertThat(freeAtCompletion).as("the lock is released before the result is there").containsExactly(true);
		assertThat(handle.isValid()).isFalse();
	}

	@Test
	void r49CallDoesNotBlockTheCallerAndItsBodyKeepsNoThreadOfTheEngine() throws Exception {
		holdElsewhere("key");
		CompletableFuture<String> result = this.work
			.stage("key", () -> CompletableFuture.completedFuture(Thread.currentThread().getName()))
			.toCompletableFuture();
		assertThat(result).isNotDone();
		this.store.release("key", "elsewhere");
		assertThat(result.get(10, TimeUnit.SECONDS)).startsWith("dlock-body-");
		assertThat(this.work.getThreads()).doesNotContain(Thread.currentThread());
	}

	@Test
	void r49ErrorOfTheStageReleases() {
		CompletableFuture<String> result = this.work.future("key");
		awaitBody();
		IllegalStateException failure = new IllegalStateException("of the work");
		this.work.getWork().completeExceptionally(failure);
		assertThat(catchThrowable(result::join)).isInstanceOf(CompletionException.class).hasCause(failure);
		assertThat(isFree()).isTrue();
	}

	@Test
	void r49ErrorOfTheMethodReleasesAndIsThatOfTheResult() {
		IllegalStateException failure = new IllegalStateException("of the method");
		CompletableFuture<String> result = this.work.stage("key", () -> {
			throw failure;
		}).toCompletableFuture();
		assertThat(catchThrowable(result::join)).isInstanceOf(CompletionException.class).hasCause(failure);
		assertThat(isFree()).isTrue();
	}

	@Test
	void r49CancelledResultCancelsTheStageAndReleases() {
		CompletableFuture<String> result = this.work.future("key");
		awaitBody();
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.work.getWork()).isCancelled();
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49StageIsCancelledBeforeItsLockIsPassedOn() throws Exception {
		List<Boolean> heldAtCancel = new ArrayList<>();
		CountDownLatch followed = new CountDownLatch(1);
		CompletableFuture<String> stage = new CompletableFuture<>() {

			@Override
			public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
				CompletableFuture<String> dependent = super.whenComplete(action);
				followed.countDown();
				return dependent;
			}

			@Override
			public boolean cancel(boolean mayInterruptIfRunning) {
				heldAtCancel.add(!isFree());
				return super.cancel(mayInterruptIfRunning);
			}

		};
		CompletableFuture<String> result = this.work.stage("key", () -> stage).toCompletableFuture();
		assertThat(followed.await(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
		assertThat(result.cancel(true)).isTrue();
		assertThat(heldAtCancel).containsExactly(true);
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49CancelledStageCancelsTheResult() {
		CompletableFuture<String> result = this.work.future("key");
		awaitBody();
		this.work.getWork().cancel(true);
		assertThat(catchThrowable(result::join)).isInstanceOf(CancellationException.class);
		assertThat(isFree()).isTrue();
	}

	@Test
	void r49TimedOutResultReleases() {
		CompletableFuture<String> result = this.work.future("key").orTimeout(50, TimeUnit.MILLISECONDS);
		assertThat(catchThrowable(result::join)).hasCauseInstanceOf(TimeoutException.class);
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49UncancellableStageKeepsNoLock() {
		CompletionStage<String> stage = new CompletableFuture<String>().minimalCompletionStage();
		CompletableFuture<String> result = this.work.stage("key", () -> stage).toCompletableFuture();
		awaitBody();
		result.cancel(true);
		Awaitility.await().until(this::isFree);
	}

	@Test
	void cancelledWaitLeavesTheQueueAndNeverRunsTheMethod() {
		holdElsewhere("key");
		CompletableFuture<String> result = this.work.stage("key", CompletableFuture::new).toCompletableFuture();
		assertThat(result.cancel(true)).isTrue();
		this.store.release("key", "elsewhere");
		assertThat(this.registry.tryAcquire("key", Duration.ofSeconds(10))).isPresent()
			.hasValueSatisfying(LockHandle::release);
		assertThat(this.work.getRuns()).isZero();
	}

	@Test
	void cancelWhileTheLockIsGrantedLeaksNothing() {
		for (int i = 0; i < 500; i++) {
			CompletableFuture<String> result = this.work.stage("key", () -> CompletableFuture.completedFuture("done"))
				.toCompletableFuture();
			if (i % 2 == 0) {
				Thread.yield();
			}
			result.cancel(true);
		}
		Awaitility.await().until(this::isFree);
		assertThat(this.registry.tryAcquire("key", Duration.ofSeconds(10))).isPresent()
			.hasValueSatisfying(LockHandle::release);
	}

	@Test
	void resultThatAnotherThreadCompletesEndsTheCall() {
		CompletableFuture<String> result = this.work.future("key");
		awaitBody();
		result.complete("without waiting");
		assertThat(this.work.getWork()).isCancelled();
		Awaitility.await().until(this::isFree);
	}

	@Test
	void methodThatReturnsNullLeaksNothing() {
		assertThat(this.work.stage("key", () -> null).toCompletableFuture().join()).isNull();
		assertThat(isFree()).isTrue();
	}

	@Test
	void invalidKeyFailsTheFuture() {
		CompletableFuture<String> result = this.work.future(" ");
		assertThat(catchThrowable(result::join)).hasCauseInstanceOf(IllegalArgumentException.class);
		assertThat(this.work.getRuns()).isZero();
	}

	@Test
	void busyLockFailsSkipsOrIsReplaced() {
		holdElsewhere("key");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(this.work.future("key")::join)
			.withCauseInstanceOf(LockBusyException.class);
		assertThat(this.work.skipped("key").join()).isNull();
		assertThat(this.work.skippedOptional("key").join()).isEmpty();
		assertThat(this.work.replaced("key").join()).isEqualTo("instead of key");
		assertThat(this.work.getRuns()).isZero();
		this.store.release("key", "elsewhere");
		this.work.getWork().complete("done");
		assertThat(this.work.skipped("key").join()).isEqualTo("done");
		assertThat(this.work.skippedOptional("key").join()).contains("done");
		assertThat(this.work.replaced("key").join()).isEqualTo("done");
	}

	/**
	 * Virtual threads are never short.
	 */
	@Test
	void callForWhichThereIsNoThreadLeavesNoLock() throws Exception {
		Field field = LockedMethodExecutor.class.getDeclaredField("EXECUTOR");
		field.setAccessible(true);
		assumeThat(field.get(null)).isInstanceOf(ThreadPoolExecutor.class);
		ThreadPoolExecutor executor = (ThreadPoolExecutor) field.get(null);
		long keepAlive = executor.getKeepAliveTime(TimeUnit.NANOSECONDS);
		int size = executor.getMaximumPoolSize();
		CountDownLatch end = new CountDownLatch(1);
		executor.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
		try {
			Awaitility.await().until(() -> executor.getPoolSize() == 0);
			executor.setMaximumPoolSize(1);
			executor.execute(() -> Awaitility.await().until(() -> end.getCount() == 0));
			assertThat(this.work.future("key")).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.withCauseInstanceOf(RejectedExecutionException.class);
			Awaitility.await().until(this::isFree);
			holdElsewhere("key");
			assertThat(this.work.future("key")).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.withCauseInstanceOf(RejectedExecutionException.class);
			this.store.release("key", "elsewhere");
		}
		finally {
			end.countDown();
			executor.setMaximumPoolSize(size);
			executor.setKeepAliveTime(keepAlive, TimeUnit.NANOSECONDS);
		}
	}

	@Test
	void r9LossIsToldAfterTheWork() {
		CompletableFuture<String> result = this.work.losing("key");
		LockHandle handle = awaitBody();
		Awaitility.await().until(() -> !handle.isValid());
		assertThat(result).isNotDone();
		this.work.getWork().complete("done");
		assertThat(catchThrowable(result::join)).hasCauseInstanceOf(LockLostException.class);
	}

	@Test
	void r9LossIsSuppressedInTheFailureOfTheWork() {
		CompletableFuture<String> result = this.work.losing("key");
		LockHandle handle = awaitBody();
		Awaitility.await().until(() -> !handle.isValid());
		this.work.getWork().completeExceptionally(new IllegalStateException("of the work"));
		Throwable failure = catchThrowable(result::join).getCause();
		assertThat(failure).hasMessage("of the work");
		assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	@Test
	void lossIsIgnoredIfAskedFor() {
		CompletableFuture<String> result = this.work.losingCarelessly("key");
		LockHandle handle = awaitBody();
		Awaitility.await().until(() -> !handle.isValid());
		this.work.getWork().complete("done");
		assertThat(result.join()).isEqualTo("done");
	}

	@Test
	void lossCancelsTheStageIfAskedFor() {
		CompletableFuture<String> result = this.work.interrupted("key");
		assertThat(catchThrowable(result::join)).hasCauseInstanceOf(LockLostException.class);
		assertThat(this.work.getWork()).isCancelled();
	}

	@Test
	void lossInterruptsTheMethodThatHasNotReturnedYet() throws Exception {
		CompletableFuture<String> result = this.work.interruptedBody("key");
		Throwable failure = catchThrowable(result::join).getCause();
		assertThat(failure).isInstanceOf(InterruptedException.class);
		assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	@Test
	void callUnderTheSameLockIsReentrant() {
		List<Long> tokens = new ArrayList<>();
		this.work.synchronous("key", () -> {
			tokens.add(LockHandle.current().orElseThrow().token());
			CompletableFuture<String> result = this.work.future("key");
			tokens.add(awaitBody().token());
			this.work.getWork().complete("done");
			assertThat(result.join()).isEqualTo("done");
			assertThat(isFree()).as("the outer one holds it").isFalse();
		});
		assertThat(tokens.get(0)).isEqualTo(tokens.get(1));
		assertThat(isFree()).isTrue();
	}

	@Test
	void nestedCallThatOutlivesTheOuterOneKeepsTheLock() {
		this.work.synchronous("key", () -> this.work.future("key"));
		LockHandle handle = awaitBody();
		assertThat(handle.isValid()).isTrue();
		assertThat(this.registry.tryAcquire("key", Duration.ZERO)).isEmpty();
		this.work.getWork().complete("done");
		Awaitility.await().until(this::isFree);
	}

	@Test
	void handleMovesBetweenThreads() {
		CompletableFuture<Long> nested = new CompletableFuture<>();
		CompletableFuture<String> result = this.work.stage("key", () -> {
			LockHandle handle = LockHandle.current().orElseThrow();
			return CompletableFuture.supplyAsync(() -> {
				try (LockContext.Binding binding = LockContext.bind(handle);
						LockHandle inner = this.registry.acquire("key")) {
					nested.complete(inner.token());
				}
				return Long.toString(handle.token());
			});
		}).toCompletableFuture();
		assertThat(result.join()).isEqualTo(Long.toString(nested.join()));
	}

}
