package io.dlock.transaction;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockSet;
import io.dlock.test.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;

/**
 * The binding of the locks of a transaction to its thread.
 */
class ThreadTransactionLocksTests {

	@AfterEach
	void end() {
		TransactionSynchronizationManager.clear();
		TransactionSynchronizationManager.unbindResourceIfPossible(ThreadTransactionLocks.class);
	}

	private static TransactionSynchronization begin() {
		TransactionSynchronizationManager.initSynchronization();
		ThreadTransactionLocks.join();
		List<TransactionSynchronization> joined = TransactionSynchronizationManager.getSynchronizations();
		assertThat(joined).hasSize(1);
		return joined.get(0);
	}

	/**
	 * As a transaction manager of JTA does when a transaction has timed out.
	 */
	private static void completeOnAnotherThread(TransactionSynchronization synchronization)
			throws InterruptedException {
		Thread reaper = new Thread(
				() -> synchronization.afterCompletion(TransactionSynchronization.STATUS_ROLLED_BACK));
		reaper.start();
		reaper.join();
	}

	@Test
	void outerTransactionResumesAfterAnInnerOneThatAnotherThreadCompleted() throws Exception {
		TransactionSynchronization outer = begin();
		TransactionLocks locks = ThreadTransactionLocks.join();
		outer.suspend();
		TransactionSynchronizationManager.clearSynchronization();
		completeOnAnotherThread(begin());
		TransactionSynchronizationManager.clearSynchronization();
		TransactionSynchronizationManager.initSynchronization();
		outer.resume();
		assertThat(ThreadTransactionLocks.join()).isSameAs(locks);
	}

	@Test
	void eachInnerTransactionOfAnotherManagerUsesTheLocksOfTheOuterOne() {
		TransactionSynchronization outer = begin();
		TransactionLocks locks = ThreadTransactionLocks.join();
		outer.suspend();
		for (int i = 0; i < 2; i++) {
			TransactionSynchronizationManager.clearSynchronization();
			TransactionSynchronizationManager.initSynchronization();
			assertThat(ThreadTransactionLocks.join("another manager")).isSameAs(locks);
			TransactionSynchronizationManager.getSynchronizations()
				.get(0)
				.afterCompletion(TransactionSynchronization.STATUS_COMMITTED);
		}
	}

	/**
	 * It may have been committed if its outcome is unknown.
	 */
	@Test
	void lossDuringTheCommitIsWarnedOfUnlessTheTransactionWasRolledBack() {
		LockHandle lost = mock();
		given(lost.key()).willReturn("key");
		willThrow(new LockLostException("key", 1, "it expired")).given(lost).release();
		for (int status : new int[] { TransactionSynchronization.STATUS_ROLLED_BACK,
				TransactionSynchronization.STATUS_UNKNOWN, TransactionSynchronization.STATUS_COMMITTED }) {
			TransactionSynchronization transaction = begin();
			ThreadTransactionLocks.join().keep(LockSet.of(List.of(lost)), false).release();
			try (CapturedLog log = CapturedLog.of(TransactionBoundHandle.class)) {
				transaction.afterCompletion(status);
				assertThat(log.messages()).as("status %d", status)
					.hasSize((status == TransactionSynchronization.STATUS_ROLLED_BACK) ? 0 : 1);
			}
			TransactionSynchronizationManager.clearSynchronization();
		}
	}

}
