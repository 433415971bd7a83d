package io.dlock.transaction;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The locks that the transaction of a thread keeps. A transaction that begins inside one
 * of another manager suspends the synchronizations of the outer one, but not the outer
 * transaction itself: methods may still write in it, and it keeps its locks.
 */
final class ThreadTransactionLocks implements TransactionSynchronization {

	private final @Nullable Object manager;

	/** The suspended transaction in which this one began. */
	private final @Nullable ThreadTransactionLocks outer;

	private final @Nullable TransactionLocks keptOutside;

	private final TransactionLocks locks;

	private boolean suspended;

	private ThreadTransactionLocks(@Nullable Object manager, @Nullable ThreadTransactionLocks outer) {
		this.manager = manager;
		this.outer = outer;
		this.keptOutside = keptOutside();
		this.locks = (this.keptOutside != null) ? this.keptOutside : new TransactionLocks();
	}

	private @Nullable TransactionLocks keptOutside() {
		for (ThreadTransactionLocks each = this.outer; each != null; each = each.outer) {
			if (each.manager != this.manager && !each.locks.isDone()) {
				return each.locks;
			}
		}
		return null;
	}

	/**
	 * The locks that the transaction of the calling thread keeps.
	 * @return the locks, or {@code null} if no locked method was called in it
	 */
	static @Nullable TransactionLocks locks() {
		ThreadTransactionLocks current = bound();
		return (current != null && !current.suspended && !current.locks.isDone()) ? current.locks : null;
	}

	/**
	 * Let the transaction of the calling thread keep locks.
	 */
	static TransactionLocks join() {
		return join(null);
	}

	/**
	 * Let the transaction of the calling thread keep locks.
	 * @param manager identifies its manager among several
	 */
	static TransactionLocks join(@Nullable Object manager) {
		TransactionLocks existing = locks();
		if (existing != null) {
			return existing;
		}
		ThreadTransactionLocks bound = bound();
		ThreadTransactionLocks created = new ThreadTransactionLocks(manager,
				(bound != null && bound.suspended) ? bound : null);
		TransactionSynchronizationManager.registerSynchronization(created);
		created.resume();
		return created.locks;
	}

	private static @Nullable ThreadTransactionLocks bound() {
		return (ThreadTransactionLocks) TransactionSynchronizationManager.getResource(ThreadTransactionLocks.class);
	}

	/**
	 * Replaces whatever is bound: another thread may have completed the former
	 * transaction.
	 */
	private static void bind(@Nullable ThreadTransactionLocks locks) {
		TransactionSynchronizationManager.unbindResourceIfPossible(ThreadTransactionLocks.class);
		if (locks != null) {
			TransactionSynchronizationManager.bindResource(ThreadTransactionLocks.class, locks);
		}
	}

	/**
	 * An inner transaction finds the locks as if the methods had been synchronous: held
	 * by its thread.
	 */
	@Override
	public void suspend() {
		this.locks.bindToThread();
		this.suspended = true;
	}

	@Override
	public void resume() {
		bind(this);
		this.suspended = false;
		this.locks.unbindFromThread();
	}

	@Override
	public void afterCompletion(int status) {
		if (bound() == this) {
			bind(this.outer);
		}
		if (this.keptOutside == null) {
			this.locks.transactionDone(status == STATUS_ROLLED_BACK);
		}
	}

	/**
	 * Last, because other synchronizations do their work under the lock.
	 */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

}
