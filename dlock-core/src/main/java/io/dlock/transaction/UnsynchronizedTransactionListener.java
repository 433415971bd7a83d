package io.dlock.transaction;

import java.util.ArrayDeque;
import java.util.Deque;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * The transactions of managers without synchronization, which cannot be seen otherwise.
 */
final class UnsynchronizedTransactionListener implements TransactionExecutionListener {

	private static final ThreadLocal<@Nullable Deque<TransactionExecution>> BEGUN = new ThreadLocal<>();

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		if (failure == null) {
			Deque<TransactionExecution> transactions = BEGUN.get();
			if (transactions == null) {
				transactions = new ArrayDeque<>(1);
				BEGUN.set(transactions);
			}
			transactions.removeIf(TransactionExecution::isCompleted);
			transactions.push(transaction);
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
		end(transaction);
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
		end(transaction);
	}

	private static void end(TransactionExecution transaction) {
		Deque<TransactionExecution> transactions = BEGUN.get();
		if (transactions != null) {
			transactions.remove(transaction);
			isInside();
		}
	}

	/**
	 * Whether the calling thread is inside one of them. Not every end of a transaction is
	 * told to listeners, but each is marked on it.
	 * @return whether it is
	 */
	static boolean isInside() {
		Deque<TransactionExecution> transactions = BEGUN.get();
		if (transactions == null) {
			return false;
		}
		transactions.removeIf(TransactionExecution::isCompleted);
		if (transactions.isEmpty()) {
			BEGUN.remove();
			return false;
		}
		return true;
	}

}
