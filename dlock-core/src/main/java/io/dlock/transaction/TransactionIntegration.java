package io.dlock.transaction;

import org.aopalliance.aop.Advice;
import org.springframework.beans.factory.ListableBeanFactory;
import reactor.util.context.ContextView;

import io.dlock.LockSet;

/**
 * The effect of transactions on locked methods, and of locks on transactions. Knows
 * nothing of spring-tx, which not every application has. Internal to the library.
 */
public interface TransactionIntegration {

	/** There are no transactions. */
	TransactionIntegration NONE = new TransactionIntegration() {
	};

	/**
	 * Check, before the lock is taken, whether the method may take it now, and let the
	 * thread hold the locks that its transaction already keeps.
	 * @param call the call of the locked method
	 */
	default void checkEntry(LockedInvocation call) {
	}

	/**
	 * Let the locks outlast the transaction that runs, if there is one.
	 * @param locks the locks, just taken
	 * @param call the call of the locked method
	 * @return the locks, to be released when the method is done
	 */
	default LockSet enter(LockSet locks, LockedInvocation call) {
		return locks;
	}

	/**
	 * Called when this thread calls an asynchronous method and goes on.
	 * @param call the call of the locked method
	 * @return the retention of the lock until the end of the transaction that runs here
	 */
	default AsyncLockRetention enterLater(LockedInvocation call) {
		return AsyncLockRetention.NONE;
	}

	/**
	 * Called when an asynchronous method is subscribed to.
	 * @param call the call of the locked method
	 * @param context the context of the subscriber
	 * @return the retention of the lock until the end of the transaction that runs there,
	 * or on this thread
	 */
	default AsyncLockRetention enterLater(LockedInvocation call, ContextView context) {
		return AsyncLockRetention.NONE;
	}

	/**
	 * Called when an asynchronous method has got its locks and is about to run.
	 * @param locks the locks
	 * @param lossIgnored whether the loss of the lock has no consequences
	 */
	default void granted(LockSet locks, boolean lossIgnored) {
	}

	/**
	 * Whether an advice begins transactions.
	 * @param advice the advice
	 * @return whether it does
	 */
	default boolean isTransaction(Advice advice) {
		return false;
	}

	/**
	 * Let a bean, if it is a transaction manager, check the locks before each commit.
	 * @param bean the bean
	 */
	default void listenTo(Object bean) {
	}

	/**
	 * Let all transaction managers that exist check the locks before each commit.
	 * @param beans the bean factory, whose ancestors count too
	 * @param reactive whether locked methods may be part of reactive transactions
	 */
	default void listenToAll(ListableBeanFactory beans, boolean reactive) {
	}

	/**
	 * Called when the context ends: its guard is no longer asked.
	 */
	default void close() {
	}

}
