package io.dlock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import reactor.core.publisher.Mono;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * R47: the lock of an asynchronous method that is called inside a transaction outlasts
 * both.
 */
@Timeout(60)
public class AsyncInsideTransactionTests extends AbstractAsyncTransactionTests {

	@Test
	void r47LockIsKeptUntilTheTransactionEndsIfTheStageIsFaster() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			assertThat(this.async.stage(() -> CompletableFuture.completedFuture("done")).join()).isEqualTo("done");
			assertThat(isHeld()).isTrue();
			insert();
		});
		nothingIsLeft();
		assertThat(warnings()).singleElement().asString().contains("AsyncWork.stage", "dlock.transaction.inside");
	}

	@Test
	void r47LockIsKeptUntilTheStageCompletesIfTheTransactionIsFaster() {
		startWith(InsideTransaction.DEFER);
		List<CompletableFuture<String>> results = new ArrayList<>();
		inTransaction(() -> results.add(begin()));
		assertThat(isHeld()).isTrue();
		this.body.complete("done");
		assertThat(results.get(0).join()).isEqualTo("done");
		nothingIsLeft();
	}

	@Test
	void r47LockThatIsGrantedAfterTheTransactionIsReleasedWithTheStage() {
		startWith(InsideTransaction.DEFER);
		List<CompletableFuture<String>> results = new ArrayList<>();
		try (LockHandle other = this.registry.acquireAsync(LockRequest.of(KEY)).join()) {
			inTransaction(() -> results.add(this.async.stage(() -> CompletableFuture.completedFuture("done"))));
			assertThat(results.get(0)).isNotDone();
		}
		assertThat(results.get(0).join()).isEqualTo("done");
		nothingIsLeft();
	}

	@Test
	void r47RollbackReleasesAsWell() {
		startWith(InsideTransaction.DEFER);
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			assertThat(catchThrowable(this.async.<String>stage(() -> {
				throw new IllegalStateException("of the method");
			})::join)).hasRootCauseMessage("of the method");
			assertThat(isHeld()).isTrue();
			status.setRollbackOnly();
		});
		nothingIsLeft();
	}

	@Test
	void r47CancelledStageIsKeptUntilTheTransactionEnds() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			begin().cancel(true);
			Awaitility.await().until(this.body::isCancelled);
			assertThat(isHeld()).isTrue();
		});
		nothingIsLeft();
	}

	@Test
	void r47LockIsReleasedEvenIfTheReleaseOfAnotherEndsWithAnError() {
		startWith(InsideTransaction.DEFER);
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Released && event.key().equals("other")) {
				throw new StackOverflowError("of the listener");
			}
		});
		inTransaction(() -> {
			this.async.stageOf("other").join();
			this.async.stageOf(KEY).join();
		});
		nothingIsLeft();
	}

	/**
	 * A call to the store that was under way may be granted, and is then released.
	 */
	@Test
	void r47CancelledWaitLeavesNothing() {
		startWith(InsideTransaction.DEFER);
		try (LockHandle other = this.registry.acquireAsync(LockRequest.of(KEY)).join()) {
			inTransaction(() -> {
				this.async.stage(() -> this.body).cancel(true);
				other.release();
				Awaitility.await()
					.pollInSameThread()
					.ignoreExceptionsMatching((ex) -> ex.getCause() instanceof LockBusyException)
					.until(() -> this.async.stageUnlessBusy().join(), "done"::equals);
			});
		}
		nothingIsLeft();
	}

	@Test
	void r47CancelWhileTheLockIsGrantedLeaksNothing() {
		startWith(InsideTransaction.DEFER);
		for (int i = 0; i < 100; i++) {
			int spins = i % 20;
			inTransaction(() -> {
				CompletableFuture<String> first = this.async.stage(() -> CompletableFuture.completedFuture("done"));
				CompletableFuture<String> second = this.async.stage(() -> CompletableFuture.completedFuture("done"));
				for (int spin = 0; spin < spins * 100; spin++) {
					Thread.onSpinWait();
				}
				first.cancel(true);
				second.cancel(true);
			});
		}
		awaitNothingLeft();
	}

	@Test
	void r47CallsOfOneTransactionExcludeEachOtherAndShareTheLock() {
		startWith(InsideTransaction.DEFER);
		AtomicInteger running = new AtomicInteger();
		List<Integer> together = Collections.synchronizedList(new ArrayList<>());
		List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
		inTransaction(() -> {
			List<CompletableFuture<String>> results = new ArrayList<>();
			for (int i = 0; i < 5; i++) {
				results.add(this.async.stage(() -> {
					together.add(running.incrementAndGet());
					tokens.add(LockHandle.current().orElseThrow().token());
					return CompletableFuture.supplyAsync(() -> {
						running.decrementAndGet();
						return "done";
					}, CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS));
				}));
			}
			results.forEach(CompletableFuture::join);
			assertThat(isHeld()).isTrue();
		});
		assertThat(together).hasSize(5).containsOnly(1);
		assertThat(tokens).containsOnly(tokens.get(0));
		nothingIsLeft();
	}

	@Test
	void r47CallWaitsForEarlierCallWithinItsWaitTime() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			CompletableFuture<String> first = begin();
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> this.async.stageUnlessBusy().get(10, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockBusyException.class);
			CompletableFuture<String> patient = this.async.stage(() -> CompletableFuture.completedFuture("next"));
			this.body.complete("done");
			assertThat(first.join()).isEqualTo("done");
			assertThat(patient.join()).isEqualTo("next");
			assertThat(this.async.stageUnlessBusy().join()).isEqualTo("done");
		});
		nothingIsLeft();
	}

	@Test
	void r47CallsAfterASynchronousMethodExcludeEachOther() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.work.run(this::insert);
			CompletableFuture<String> first = this.async.stage(() -> this.body);
			assertThat(catchThrowable(this.async.stageUnlessBusy()::join)).hasCauseInstanceOf(LockBusyException.class);
			this.body.complete("done");
			assertThat(first.join()).isEqualTo("done");
			assertThat(this.async.stageUnlessBusy().join()).isEqualTo("done");
		});
		nothingIsLeft();
	}

	@Test
	void r47SynchronousMethodSharesTheLockThatTheTransactionKeeps() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.async.stageUnlessBusy().join();
			this.work.run(this::insert);
			assertThat(this.async.stageUnlessBusy().join()).isEqualTo("done");
			assertThat(isHeld()).isTrue();
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
		this.work.run(this::insert);
	}

	@Test
	void r47SynchronousMethodIsExcludedWhileTheStageGoesOn() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			CompletableFuture<String> result = begin();
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.work.run(this::insert));
			this.body.complete("done");
			result.join();
			this.work.run(this::insert);
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	@Test
	void r47SynchronousMethodIsExcludedWhileALaterStageGoesOn() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.async.stageUnlessBusy().join();
			CompletableFuture<String> result = this.async.stage(() -> this.body);
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.work.run(this::insert));
			this.body.complete("done");
			result.join();
			this.work.run(this::insert);
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	@Test
	void r47InnerTransactionEndsTheLocksThatWereTakenInIt() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			inNewTransaction(() -> {
				this.async.stageUnlessBusy().join();
				assertThat(isHeld()).isTrue();
			});
			assertThat(isHeld()).isFalse();
			this.async.stageUnlessBusy().join();
			inNewTransaction(() -> assertThat(isHeld()).isTrue());
			assertThat(this.async.stageUnlessBusy().join()).as("the transaction has got its locks back")
				.isEqualTo("done");
			assertThat(isHeld()).isTrue();
		});
		nothingIsLeft();
	}

	@Test
	void r47InnerTransactionSharesTheLockOfTheSuspendedOne() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.async.stageUnlessBusy().join();
			for (int i = 0; i < 2; i++) {
				inNewTransaction(() -> {
					this.work.run(this::insert);
					assertThat(this.async.stageUnlessBusy().join()).isEqualTo("done");
				});
				assertThat(isHeld()).isTrue();
			}
			CompletableFuture<String> result = this.async.stage(() -> this.body);
			assertThatExceptionOfType(LockBusyException.class).as("the stage goes on")
				.isThrownBy(() -> this.work.run(this::insert));
			this.body.complete("done");
			assertThat(result.join()).isEqualTo("done");
		});
		assertThat(entries()).isEqualTo(2);
		nothingIsLeft();
	}

	@Test
	void r47CallerThatHoldsTheLockKeepsIt() {
		startWith(InsideTransaction.DEFER);
		this.work.run(() -> inTransaction(() -> {
			long token = LockHandle.current().orElseThrow().token();
			assertThat(this.async
				.stage(() -> CompletableFuture.completedFuture(LockHandle.current().orElseThrow().token()))
				.join()).isEqualTo(token);
		}));
		assertThat(warnings()).isEmpty();
		nothingIsLeft();
	}

	@Test
	void r47PublisherIsKeptByTheTransactionOfTheSubscribingThread() {
		startWith(InsideTransaction.DEFER);
		Mono<String> mono = this.async.mono();
		inTransaction(() -> {
			assertThat(mono.block()).isEqualTo("done");
			assertThat(isHeld()).isTrue();
			assertThat(mono.block()).isEqualTo("done");
		});
		nothingIsLeft();
		assertThat(mono.block()).isEqualTo("done");
		nothingIsLeft();
	}

	@Test
	void failRefusesTheCallBeforeTheLockIsTaken() {
		startWith(InsideTransaction.FAIL);
		inTransaction(() -> {
			assertThat(catchThrowable(this.async.stageUnlessBusy()::join))
				.hasCauseInstanceOf(IllegalTransactionStateException.class)
				.hasMessageContaining("AsyncWork.stageUnlessBusy");
			assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(this.async.mono()::block)
				.withMessageContaining("AsyncWork.mono");
			nothingIsLeft();
		});
		Mono<String> mono = this.async.mono();
		assertThat(mono.block()).isEqualTo("done");
		this.work.run(() -> inTransaction(() -> assertThat(mono.block()).isEqualTo("done")));
	}

	@Test
	void ignoreReleasesWithTheStage() {
		startWith(InsideTransaction.IGNORE);
		inTransaction(() -> {
			this.async.stageUnlessBusy().join();
			nothingIsLeft();
			assertThat(this.async.mono().block()).isEqualTo("done");
			nothingIsLeft();
		});
		assertThat(warnings()).isEmpty();
	}

	@Test
	void transactionManagerWithoutSynchronizationIsRefused() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			assertThat(catchThrowable(this.async.stageUnlessBusy()::join))
				.hasCauseInstanceOf(IllegalTransactionStateException.class)
				.hasMessageContaining("no transaction synchronization");
			assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(this.async.mono()::block);
			nothingIsLeft();
		});
		assertThat(this.async.stageUnlessBusy().orTimeout(10, TimeUnit.SECONDS).join()).isEqualTo("done");
		assertThat(this.registry.tryAcquire(KEY, Duration.ofSeconds(5))).isPresent()
			.hasValueSatisfying(LockHandle::release);
	}

}
