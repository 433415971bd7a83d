package io.dlock.transaction;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * With several transaction managers, registers each transaction when it begins, because
 * it cannot join later, while a transaction of another manager has suspended its
 * synchronizations.
 */
final class BegunTransactionListener implements TransactionExecutionListener {

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		if (failure == null && TransactionSynchronizationManager.isSynchronizationActive()) {
			ThreadTransactionLocks.join(this);
		}
	}

}
