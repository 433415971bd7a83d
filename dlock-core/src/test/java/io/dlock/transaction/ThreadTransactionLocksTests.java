package io.dlock.transaction;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

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

}
