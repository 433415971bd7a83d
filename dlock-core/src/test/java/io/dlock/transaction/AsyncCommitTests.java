package io.dlock.transaction;

import java.util.concurrent.CompletionException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockLostException;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * R48: a transaction does not commit when the lock of an asynchronous method that it
 * keeps is lost.
 */
@Timeout(60)
public class AsyncCommitTests extends AbstractAsyncTransactionTests {

	@Test
	void r48LostLockThatTheTransactionKeepsRollsItBack() {
		startWith(InsideTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			this.async.kept().join();
			insert();
			ForcedLoss.of(this.registry, KEY);
		})).withMessageContaining("is rolled back");
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r48EachLockThatTheTransactionKeepsIsChecked() {
		startWith(InsideTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			this.async.stageOf("before").join();
			this.async.kept().join();
			this.async.stageOf("behind").join();
			insert();
			ForcedLoss.of(this.registry, KEY);
		})).withMessageContaining("is rolled back");
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r9StageReportsLossWhileTransactionContinues() {
		startWith(InsideTransaction.DEFER);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> inTransaction(() -> assertThat(catchThrowable(this.async.losingMeanwhile()::join))
				.hasCauseInstanceOf(LockLostException.class)))
			.withMessageContaining("is rolled back");
		nothingIsLeft();
	}

	@Test
	void r48LockThatMayBeLostDoesNotRollBack() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.async.keptCarelessly().join();
			insert();
			ForcedLoss.of(this.registry, KEY);
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	@Test
	void r48LostLockRollsBackTheTransactionOfTheMethod() {
		startWith(InsideTransaction.FAIL);
		assertThat(catchThrowable(this.async.losingInItsTransaction(() -> {
			insert();
			loseLock();
		})::join)).isInstanceOf(CompletionException.class)
			.cause()
			.isInstanceOf(LockLostException.class)
			.hasMessageContaining("is rolled back");
		assertThat(entries()).isZero();
		awaitNothingLeft();
	}

	@Test
	void r48TransactionOfAMethodWhoseLockMayBeLostIsCommitted() {
		startWith(InsideTransaction.FAIL);
		assertThat(this.async.losingCarelesslyInItsTransaction(() -> {
			insert();
			loseLock();
		}).join()).isEqualTo("done");
		assertThat(entries()).isOne();
		awaitNothingLeft();
	}

}
