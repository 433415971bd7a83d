package io.dlock.transaction;

import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Marks the transaction of a thread as committed. Its synchronizations stay active while
 * they are told of the commit. They may write with its connection, which commits once
 * more after the last of them. During the commit itself, as in a flush of JPA, the
 * transaction still runs.
 */
final class CommittingTransactionListener implements TransactionExecutionListener {

	/**
	 * Whether the transaction of the calling thread is committed and not yet completed.
	 * @return whether it is
	 */
	static boolean isCommitted() {
		return TransactionSynchronizationManager.hasResource(CommittingTransactionListener.class);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		if (transaction.isNewTransaction() && TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new Mark());
		}
	}

	/**
	 * A transaction that begins meanwhile suspends the mark with the synchronizations.
	 */
	private static final class Mark implements TransactionSynchronization, PriorityOrdered {

		private boolean committed;

		/**
		 * Before all others, which may call locked methods.
		 */
		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			this.committed = true;
			resume();
		}

		@Override
		public void suspend() {
			TransactionSynchronizationManager.unbindResourceIfPossible(CommittingTransactionListener.class);
		}

		@Override
		public void resume() {
			if (this.committed) {
				suspend();
				TransactionSynchronizationManager.bindResource(CommittingTransactionListener.class, this);
			}
		}

		@Override
		public void afterCompletion(int status) {
			suspend();
		}

	}

}
