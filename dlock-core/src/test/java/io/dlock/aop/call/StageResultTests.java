package io.dlock.aop.call;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * R49: the lock of a method that returns a stage is held until the stage completes.
 */
@Timeout(60)
public class StageResultTests extends AbstractStageTests {

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
		lose();
		assertThat(result).isNotDone();
		this.work.getWork().complete("done");
		assertThat(catchThrowable(result::join)).hasCauseInstanceOf(LockLostException.class);
	}

	@Test
	void r9LossIsSuppressedInTheFailureOfTheWork() {
		CompletableFuture<String> result = this.work.losing("key");
		lose();
		this.work.getWork().completeExceptionally(new IllegalStateException("of the work"));
		Throwable failure = catchThrowable(result::join).getCause();
		assertThat(failure).hasMessage("of the work");
		assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	@Test
	void lossIsIgnoredIfAskedFor() {
		CompletableFuture<String> result = this.work.losingCarelessly("key");
		lose();
		this.work.getWork().complete("done");
		assertThat(result.join()).isEqualTo("done");
	}

	@Test
	void lossCancelsTheStageIfAskedFor() {
		CompletableFuture<String> result = this.work.interrupted("key");
		Awaitility.await().until(() -> this.work.getWork().getNumberOfDependents() > 0);
		lose();
		assertThat(catchThrowable(result::join)).hasCauseInstanceOf(LockLostException.class);
		assertThat(this.work.getWork()).isCancelled();
	}

	@Test
	void lossInterruptsTheMethodThatHasNotReturnedYet() throws Exception {
		CompletableFuture<String> result = this.work.interruptedBody("key");
		lose();
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
