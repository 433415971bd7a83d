package io.dlock.transaction;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The locks that the transaction of a thread keeps.
 */
final class ThreadTransactionLocks implements TransactionSynchronization {

	private final TransactionLocks locks = new TransactionLocks();

	private ThreadTransactionLocks() {
	}

	/**
	 * The locks that the transaction of the calling thread keeps.
	 * @return the locks, or {@code null} if no locked method was called in it
	 */
	static @Nullable TransactionLocks locks() {
		ThreadTransactionLocks current = bound();
		return (current != null && !current.locks.isDone()) ? current.locks : null;
	}

	/**
	 * Let the transaction of the calling thread keep locks.
	 * @return its locks
	 */
	static TransactionLocks join() {
		TransactionLocks existing = locks();
		if (existing != null) {
			return existing;
		}
		ThreadTransactionLocks created = new ThreadTransactionLocks();
		TransactionSynchronizationManager.registerSynchronization(created);
		created.resume();
		return created.locks;
	}

	private static @Nullable ThreadTransactionLocks bound() {
		return (ThreadTransactionLocks) TransactionSynchronizationManager.getResource(ThreadTransactionLocks.class);
	}

	/**
	 * An inner transaction finds the locks as if the methods had been synchronous: held
	 * by its thread.
	 */
	@Override
	public void suspend() {
		this.locks.bindToThread();
		unbind();
	}

	private void unbind() {
		if (bound() == this) {
			TransactionSynchronizationManager.unbindResource(ThreadTransactionLocks.class);
		}
	}

	@Override
	public void resume() {
		// another thread may have completed the former transaction
		TransactionSynchronizationManager.unbindResourceIfPossible(ThreadTransactionLocks.class);
		TransactionSynchronizationManager.bindResource(ThreadTransactionLocks.class, this);
		this.locks.unbindFromThread();
	}

	@Override
	public void afterCompletion(int status) {
		unbind();
		this.locks.transactionDone(status == STATUS_ROLLED_BACK);
	}

	/**
	 * Last, because other synchronizations do their work under the lock.
	 */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

}
