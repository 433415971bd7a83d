package io.dlock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.LockHandle;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Locked methods that are called after the commit or the completion of a transaction.
 */
class CompletionCallbackTests extends AbstractTransactionTests {

	/**
	 * Two callbacks after the commit. In the first one the synchronizations are still
	 * active.
	 */
	enum Callback {

		AFTER_COMMIT, AFTER_COMPLETION

	}

	/**
	 * The callback is before all others, and may be before those of dlock.
	 */
	private void call(Callback callback, Runnable body) {
		inTransaction(() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public int getOrder() {
				return HIGHEST_PRECEDENCE;
			}

			@Override
			public void afterCommit() {
				if (callback == Callback.AFTER_COMMIT) {
					body.run();
				}
			}

			@Override
			public void afterCompletion(int status) {
				if (callback == Callback.AFTER_COMPLETION) {
					body.run();
				}
			}

		}));
	}

	@ParameterizedTest
	@EnumSource
	void writesOfACallAfterTheCommitAreCommittedAfterTheLockWithAWarning(Callback callback) {
		Work work = start();
		List<String> seen = new ArrayList<>();
		call(callback, () -> {
			work.runInTransaction(this::insert);
			seen.add("held %s, entries %d".formatted(isHeld(), CompletableFuture.supplyAsync(this::entries).join()));
		});
		assertThat(seen).containsExactly("held false, entries 0");
		assertThat(entries()).isOne();
		assertThat(warnings()).singleElement(as(InstanceOfAssertFactories.STRING))
			.contains("Work.runInTransaction", "completion", "REQUIRES_NEW");
	}

	@Test
	void callsAfterTheCommitAreWarnedOfOnceForEachMethod() {
		Work work = start();
		for (int i = 0; i < 2; i++) {
			call(Callback.AFTER_COMMIT, () -> work.runInTransaction(this::insert));
		}
		assertThat(entries()).isEqualTo(2);
		assertThat(warnings()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void callAfterTheCommitIsRefusedInsideATransaction(Callback callback) {
		Work work = start((postProcessor) -> postProcessor.setInsideTransaction(InsideTransaction.FAIL));
		List<Throwable> failures = new ArrayList<>();
		call(callback, () -> failures.add(catchThrowable(() -> work.runInTransaction(this::insert))));
		assertThat(failures).singleElement(as(InstanceOfAssertFactories.THROWABLE))
			.isInstanceOf(IllegalTransactionStateException.class)
			.hasMessageContaining("completion");
		assertThat(entries()).isZero();
	}

	/**
	 * A transaction that begins after the commit of another is not that one, and the next
	 * one of the thread is neither.
	 */
	@Test
	void transactionAfterTheCommitOfAnotherKeepsItsLocks() {
		Work work = start();
		Runnable keeping = () -> {
			work.runInTransaction(this::insert);
			assertThat(isHeld()).isTrue();
		};
		call(Callback.AFTER_COMMIT, () -> {
			inNewTransaction(keeping);
			assertThat(isHeld()).isFalse();
			work.runInNewTransaction(this::insert);
		});
		inTransaction(keeping);
		nothingIsLeft();
		assertThat(warnings()).singleElement(as(InstanceOfAssertFactories.STRING)).contains("is kept until");
	}

	/**
	 * The locks of the transaction are kept until its completion.
	 */
	@Test
	void callAfterTheCommitFindsTheLockThatItsTransactionKeeps() {
		Work work = start();
		inTransaction(() -> {
			work.runInTransaction(this::insert);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					work.runInTransaction(CompletionCallbackTests.this::insert);
				}

			});
		});
		nothingIsLeft();
		assertThat(entries()).isEqualTo(2);
	}

	/**
	 * As a listener of an entity is called, by the flush that is part of the commit of
	 * JPA.
	 */
	@Test
	void callDuringTheCommitKeepsItsLockUntilTheCompletion() {
		Work work = start();
		this.duringCommit = () -> {
			work.runInTransaction(this::insert);
			assertThat(isHeld()).isTrue();
		};
		inTransaction(() -> {
		});
		nothingIsLeft();
		assertThat(entries()).isOne();
		assertThat(warnings()).singleElement(as(InstanceOfAssertFactories.STRING)).contains("is kept until");
	}

	@ParameterizedTest
	@EnumSource(InsideTransaction.class)
	void newTransactionAfterTheCompletionEndsInTheLock(InsideTransaction inside) {
		Work work = start((postProcessor) -> postProcessor.setInsideTransaction(inside));
		call(Callback.AFTER_COMPLETION, () -> {
			work.runInNewTransaction(this::insert);
			assertThat(CompletableFuture.supplyAsync(this::entries)).succeedsWithin(Patience.EVENTUALLY).isEqualTo(1);
		});
		assertThat(entries()).isOne();
		assertThat(warnings()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void callAfterTheCommitIsAllowedToTheHolderOfTheLock(Callback callback) {
		Work work = start((postProcessor) -> postProcessor.setInsideTransaction(InsideTransaction.FAIL));
		List<Throwable> failures = new ArrayList<>();
		try (LockHandle held = this.registry.acquire(KEY)) {
			call(callback, () -> failures.add(catchThrowable(() -> work.runInTransaction(this::insert))));
			assertThat(held.isValid()).isTrue();
		}
		assertThat(failures).containsOnlyNulls();
		assertThat(entries()).isOne();
	}

}
