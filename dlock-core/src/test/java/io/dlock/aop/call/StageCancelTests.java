package io.dlock.aop.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * R49: a stage that is cancelled, or whose result ends before it, gives up its lock.
 */
@Timeout(60)
public class StageCancelTests extends AbstractStageTests {

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

}
