package io.dlock.transaction;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Marks the transaction of a thread from its commit on: its synchronizations remain
 * active while they are told of the commit, and write with its connection, which commits
 * once more when all of them are done.
 */
final class CommittingTransactionListener implements TransactionExecutionListener {

	/**
	 * Whether the transaction of the calling thread has begun to commit.
	 * @return whether it has
	 */
	static boolean isCommitting() {
		return TransactionSynchronizationManager.hasResource(CommittingTransactionListener.class);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		if (transaction.isNewTransaction() && TransactionSynchronizationManager.isSynchronizationActive()) {
			Mark mark = new Mark();
			TransactionSynchronizationManager.registerSynchronization(mark);
			mark.resume();
		}
	}

	/**
	 * A transaction that begins meanwhile suspends the mark with the synchronizations.
	 */
	private static final class Mark implements TransactionSynchronization {

		@Override
		public void suspend() {
			TransactionSynchronizationManager.unbindResourceIfPossible(CommittingTransactionListener.class);
		}

		@Override
		public void resume() {
			suspend();
			TransactionSynchronizationManager.bindResource(CommittingTransactionListener.class, this);
		}

		@Override
		public void afterCompletion(int status) {
			suspend();
		}

	}

}
